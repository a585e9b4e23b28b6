import { MAX_ANSWERS_PER_MESSAGE, UnsignedAnswer } from '../../policy/contracts/answer';
import { openEnvelope } from '../../policy/evidence/dsse';

/** One answer of a message as it was sent; or the whole message, with what is wrong with it. */
export interface Item {
  readonly sent: unknown;
  readonly problem: string | null;
}

const EXPECTED = `answer: expected {"answers": […]} with 1 to ${MAX_ANSWERS_PER_MESSAGE} answers`;

/** The answers of a message, each to be judged by itself: one that is malformed does not take the others with it. */
export function itemsOf(message: unknown): readonly Item[] {
  const whole = (problem: string): readonly Item[] => [{ sent: message, problem }];
  if (Array.isArray(message)) return whole(`${EXPECTED}, each naming its violation; there is no form by position`);
  if (typeof message !== 'object' || message === null)
    return whole(`${EXPECTED}, got ${message === null ? 'null' : typeof message}`);
  const { answers, ...rest } = message as { answers?: unknown };
  if (!Array.isArray(answers) || Object.keys(rest).length > 0) return whole(`${EXPECTED} and no other member`);
  if (answers.length === 0 || answers.length > MAX_ANSWERS_PER_MESSAGE)
    return whole(`${EXPECTED}, got ${answers.length}`);
  return answers.map((sent: unknown) => ({ sent, problem: null }));
}

/** The violation that an answer names, unverified; null where none can be read. */
export function violationIdOf(sent: unknown): string | null {
  const opened = openEnvelope('answer', sent);
  if (opened.ok) return opened.statement.predicate.violationId;
  const plain = UnsignedAnswer.safeParse(sent);
  return plain.success ? plain.data.violationId : null;
}
