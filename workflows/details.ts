import type { ReviewStatus } from '../policy/contracts/status';
import { answerLines, asMarkdown, type Refusals } from './answer-lines';
import type { AdmittedAnswer } from '../policy/contracts/answer';
import { codeLine } from '../policy/text/plain-line';

/** What the details contain in addition to the status. */
interface DetailsOf {
  readonly title: string;
  readonly answers: readonly AdmittedAnswer[];
  readonly refusals: Refusals;
  /** Why a closed review ended so, or what an open one waits for. */
  readonly note: string | null;
}

/**
 * The markdown that the Temporal UI shows for a review: what it does, what is waited for, from whom and until when, who answered
 * and why, and how it ended. Text that people or agents wrote is in code spans and on one line.
 */
export function currentDetails(status: ReviewStatus, { title, answers, refusals, note }: DetailsOf): string {
  const lines = [
    `**${status.state}**${status.reason === null ? '' : ` (${status.reason})`} · ${status.sourceTool} on ${status.target}`,
  ];
  if (title !== '') lines.push('', codeLine(title, 120));
  if (note !== null) lines.push('', codeLine(note, 600));
  const { answered, refused } = answerLines({ answers, refusals, violations: status.violations }, asMarkdown);
  addList(lines, 'Answers:', answered);
  addList(lines, 'Refused, without effect (who and what as claimed):', refused);
  const waiting = status.violations.filter((v) => v.resolution === 'pending');
  if (status.state === 'INTERVENTION_REQUIRED')
    addList(
      lines,
      `Waits for ${waiting.length} answer${waiting.length === 1 ? '' : 's'} until ${status.deadlineAt ?? ''}:`,
      waitingLines(waiting),
    );
  for (const warning of status.warnings) lines.push('', `⚠ ${warning}`);
  return lines.join('\n').slice(0, 15_000);
}

function waitingLines(waiting: ReviewStatus['violations']): string[] {
  const shown = waiting.slice(0, 20).map((v) => {
    const so = v.confirmedBy.length === 0 ? '' : `, confirmed by ${v.confirmedBy.length} so far`;
    return `\`${v.validatorId}\`: ${v.quorum} of group **${v.group}** (${v.mayAnswer.join(', ')})${so}, violation \`${v.violationId.slice(0, 12)}\``;
  });
  return waiting.length > 20 ? [...shown, `and ${waiting.length - 20} more`] : shown;
}

function addList(lines: string[], heading: string, items: readonly string[]): void {
  if (items.length > 0) lines.push('', heading, '', ...items.map((item) => `- ${item}`));
}
