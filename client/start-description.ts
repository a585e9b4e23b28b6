import type { Submission } from '../policy/contracts/diff';
import { clip } from '../policy/text/cut-text';
import { codeLine } from '../policy/text/plain-line';

/** In UTF-16 code units: with the rest under the server's limit for a summary, also in characters of three bytes and encrypted. */
const MAX_TITLE = 48;
const MAX_TARGET = 24;

/**
 * Summary and details of a review in the Temporal UI, fixed at its start. Contains only the title, as the source tool makes it, names and
 * digests. Without metadata, which the agent wrote and which may contain secrets. The server limits them to 400 and 20,000 bytes.
 * `title` is null if the process that starts the review cannot compute it.
 */
export function describeStart(
  submission: Submission,
  title: string | null,
): { staticSummary: string; staticDetails: string } {
  const { tenant, target, sourceTool, diffSha } = submission;
  const lines = [
    `**${sourceTool}** change on target **${target}** of tenant **${tenant}**`,
    '',
    `- diff \`sha256:${diffSha}\`${submission.inline === undefined ? '' : ' (the bytes are in this history until the end of its retention)'}`,
    `- ${submission.envelope === undefined ? 'not signed: the requester is unknown' : 'signed by a service key'}`,
    ...(submission.supersedes === undefined ? [] : [`- supersedes \`${submission.supersedes}\``]),
    '',
    `\`countersign show\` with this workflow's id shows the diff and its findings.`,
  ];
  return {
    staticSummary:
      title === null
        ? `${sourceTool} on ${tenant}/${target}: ${diffSha.slice(0, 12)}`
        : `${codeLine(title, MAX_TITLE)} on ${clip(target, MAX_TARGET)}`,
    staticDetails: lines.join('\n'),
  };
}
