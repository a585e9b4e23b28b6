import type { Submission } from '../policy/contracts/diff';

/**
 * What the Temporal UI shows of a review from its first moment: names and digests, which a schema keeps to harmless characters.
 * Metadata stays out: it is the agent's own words, and may hold secrets (P12). Limits of the server: 400 and 20,000 bytes.
 */
export function describeStart(submission: Submission): { staticSummary: string; staticDetails: string } {
  const { tenant, target, sourceTool, diffSha } = submission;
  const lines = [
    `**${sourceTool}** change on target **${target}** of tenant **${tenant}**`,
    '',
    `- diff \`sha256:${diffSha}\`${submission.inline === undefined ? '' : ' (its bytes are in this history until retention)'}`,
    `- ${submission.envelope === undefined ? 'not signed: the requester is unknown' : 'signed by a service key'}`,
    ...(submission.supersedes === undefined ? [] : [`- takes the place of \`${submission.supersedes}\``]),
    '',
    `\`countersign show\` with this workflow's id shows the diff and its findings.`,
  ];
  return {
    staticSummary: `${sourceTool} on ${tenant}/${target}: ${diffSha.slice(0, 12)}`,
    staticDetails: lines.join('\n'),
  };
}
