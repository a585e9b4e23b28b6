import type { ReviewStatus } from '../policy/contracts/status';

/**
 * The markdown that the Temporal UI shows for an open review: what is waited for, from whom, until when. It contains only text
 * of ours and of the policy, nothing that an agent wrote.
 */
export function currentDetails(status: ReviewStatus, note?: string): string {
  const lines = [
    `**${status.state}**${status.reason === null ? '' : ` (${status.reason})`} · ${status.sourceTool} on ${status.target}`,
  ];
  if (note !== undefined) lines.push('', note);
  const waiting = status.violations.filter((v) => v.resolution === 'pending');
  if (waiting.length > 0 && status.state === 'INTERVENTION_REQUIRED') {
    lines.push(
      '',
      `Waits for ${waiting.length} answer${waiting.length === 1 ? '' : 's'} until ${status.deadlineAt ?? ''}:`,
      '',
    );
    for (const v of waiting.slice(0, 20)) {
      lines.push(
        `- \`${v.validatorId}\`: ${v.quorum} of group **${v.group}** (${v.mayAnswer.join(', ')}), violation \`${v.violationId.slice(0, 12)}\``,
      );
    }
    if (waiting.length > 20) lines.push(`- and ${waiting.length - 20} more`);
  }
  for (const warning of status.warnings) lines.push('', `⚠ ${warning}`);
  return lines.join('\n').slice(0, 15_000);
}
