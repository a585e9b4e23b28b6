/**
 * The text of notices. It consists of words of this application and of names that operators chose (groups, rules, targets,
 * tenants, source tools). Nothing of the change or of the agent is in it, so a notice cannot carry an instruction, a link or a
 * mention that an agent wrote; and it cannot be used to answer.
 */
import { z } from 'zod';
import { Name, Sha256Hex } from '../../policy/contracts/diff';
import { RollbackReason, TerminalState } from '../../policy/contracts/outcome';
import { counted } from '../../policy/text/counted';

const About = { changeId: Sha256Hex, tenant: z.string(), target: z.string(), sourceTool: z.string(), team: Name };
export const NoticeBody = z.discriminatedUnion('event', [
  z.strictObject({
    event: z.enum(['waiting', 'reminder', 'escalation']),
    ...About,
    rules: z.array(z.string()),
    deadlineAt: z.iso.datetime().nullable(),
  }),
  z.strictObject({ event: z.literal('ended'), ...About, state: TerminalState, reason: RollbackReason.nullable() }),
]);
export type NoticeBody = z.infer<typeof NoticeBody>;

const MAX_RULES = 5;
/** A message lists at most this many notices. */
export const MAX_LINES = 20;

/** One line, without the link. */
export function noticeLine(notice: NoticeBody): string {
  const what = `${notice.sourceTool} on ${notice.target} (${notice.tenant})`;
  const id = notice.changeId.slice(0, 8);
  if (notice.event === 'ended') {
    return `${id}  ${what}: ended as ${notice.state}${notice.reason === null ? '' : ` (${notice.reason})`}`;
  }
  const shown = notice.rules.slice(0, MAX_RULES).join(', ');
  const more = notice.rules.length > MAX_RULES ? ` and ${notice.rules.length - MAX_RULES} more` : '';
  const until = notice.deadlineAt === null ? '' : `; rolled back at ${notice.deadlineAt} without an answer`;
  return `${id}  ${what}: ${WORDS[notice.event]} ${notice.team}: ${shown}${more}${until}`;
}

const WORDS = {
  waiting: 'waits for',
  reminder: 'still waits for',
  escalation: 'has waited too long for',
} as const satisfies Record<Exclude<NoticeBody['event'], 'ended'>, string>;

export function subject(notices: readonly NoticeBody[]): string {
  const [first] = notices;
  if (first !== undefined && notices.length === 1) {
    return first.event === 'ended'
      ? `Countersign: a change of ${first.target} ended as ${first.state}`
      : `Countersign: a change of ${first.target} ${WORDS[first.event]} ${first.team}`;
  }
  const changes = (of: readonly NoticeBody[]): string =>
    counted(new Set(of.map(({ changeId }) => changeId)).size, 'change');
  const waiting = notices.filter(({ event }) => event !== 'ended');
  return waiting.length === 0
    ? `Countersign: ${changes(notices)} ended`
    : `Countersign: ${changes(waiting)} waiting for an answer`;
}

export function linkTo(inbox: string, changeId: string): string {
  return `${inbox}#/review/${changeId}`;
}

/** Lines of a plain text message, each notice with its link. */
export function textLines(notices: readonly NoticeBody[], inbox: string): readonly string[] {
  const lines = notices
    .slice(0, MAX_LINES)
    .flatMap((notice) => [noticeLine(notice), linkTo(inbox, notice.changeId), '']);
  const more = notices.length - MAX_LINES;
  return more > 0 ? [...lines, `and ${more} more: ${inbox}`] : lines;
}
