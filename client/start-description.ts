import type { Submission } from '../policy/contracts/diff';

/**
 * Summary and details of a review in the Temporal UI. Contains only names and digests, whose schemas allow no markup. Without
 * metadata, which the agent wrote and which may contain secrets. The server limits them to 400 and 20,000 bytes.
 */
export function describeStart(submission: Submission): { staticSummary: string; staticDetails: string } {
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
    staticSummary: `${sourceTool} on ${tenant}/${target}: ${diffSha.slice(0, 12)}`,
    staticDetails: lines.join('\n'),
  };
}
