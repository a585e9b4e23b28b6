import type { AdmittedAnswer, AnswerResults } from '../policy/contracts/answer';
import type { Claim } from './claimed-answer';
import { codeLine, plainLine } from '../policy/text/plain-line';

/** Refused answers that are kept, the latest ones. */
const MAX_REFUSALS = 5;
const MAX_ANSWERS = 20;
const MAX_REASON = 200;

/** Answers that did not count, for the Temporal UI. The next run receives them. */
export interface Refusals {
  readonly latest: readonly { readonly claim: string; readonly why: string }[];
  /** All of them, also those that are not kept. */
  readonly count: number;
}

export const NO_REFUSALS: Refusals = { latest: [], count: 0 };

/** Adds the results of a message that are refusals, each with what its answer claimed. */
export function withRefused(before: Refusals, claims: readonly Claim[], results: AnswerResults): Refusals {
  const added = Object.entries(results).flatMap(([key, { code, message }]) => {
    if (code === 'accepted' || code === 'duplicate') return [];
    const claim = key.startsWith('#') ? claims[Number(key.slice(1))] : claims.find((c) => c.violationId === key);
    return [
      {
        claim: claim?.text ?? 'an answer that cannot be read',
        why: plainLine(`${code}: ${message}`, MAX_REASON),
      },
    ];
  });
  return { latest: [...before.latest, ...added].slice(-MAX_REFUSALS), count: before.count + added.length };
}

interface Given {
  readonly answers: readonly AdmittedAnswer[];
  readonly refusals: Refusals;
  readonly violations: readonly { readonly violationId: string; readonly validatorId: string }[];
}

/** The answers that were admitted, the latest last, then the refused ones. Markdown if `quote` makes code spans. */
export function answerLines(
  { answers, refusals, violations }: Given,
  quote: Quote,
): { answered: string[]; refused: string[] } {
  const answered = answers.slice(-MAX_ANSWERS).map((answer) => {
    const { violationId, person, decision, reason, signed, admittedAt } = answer;
    const validator = violations.find((v) => v.violationId === violationId)?.validatorId ?? violationId;
    const why = reason === '' ? 'no reason given' : quote(reason, MAX_REASON);
    const unsigned = signed ? '' : ' (unsigned)';
    return `${quote(person, 60)}${unsigned}: ${decision} ${quote(validator, 100)}, ${why}, ${plainLine(admittedAt, 30)}`;
  });
  if (answers.length > MAX_ANSWERS) answered.unshift(`${answers.length - MAX_ANSWERS} earlier ones`);
  const refused = refusals.latest.map(({ claim, why }) => `${quote(claim, 80)}, ${quote(why, MAX_REASON)}`);
  if (refusals.count > refused.length) refused.unshift(`${refusals.count - refused.length} earlier ones`);
  return { answered, refused };
}

/** How text that people wrote is put into a line. */
export type Quote = (text: unknown, max: number) => string;

export const asMarkdown: Quote = codeLine;
export const asText: Quote = plainLine;
