import { MAX_ANSWERS_PER_MESSAGE, UnsignedAnswer } from '../../policy/contracts/answer';
import { openEnvelope } from '../../policy/evidence/dsse';

/** One answer of a message as it was sent; or the entire message and the problem, if the message is not valid. */
interface AnswerItem {
  readonly sent: unknown;
  readonly problem: string | null;
}

const EXPECTED = `answer: expected {"answers": […]} with 1 to ${MAX_ANSWERS_PER_MESSAGE} answers`;

/** Splits a message into its answers without parsing them, so that a malformed answer does not affect the others. */
export function parseAnswerMessage(message: unknown): readonly AnswerItem[] {
  const invalid = (problem: string): readonly AnswerItem[] => [{ sent: message, problem }];
  if (Array.isArray(message))
    return invalid(`${EXPECTED}, each with its violationId; answers cannot be matched by position`);
  if (typeof message !== 'object' || message === null)
    return invalid(`${EXPECTED}, got ${message === null ? 'null' : typeof message}`);
  const { answers, ...rest } = message as { answers?: unknown };
  if (!Array.isArray(answers) || Object.keys(rest).length > 0) return invalid(`${EXPECTED} and no other member`);
  if (answers.length === 0 || answers.length > MAX_ANSWERS_PER_MESSAGE)
    return invalid(`${EXPECTED}, got ${answers.length}`);
  return answers.map((sent: unknown) => ({ sent, problem: null }));
}

/** The violation that an answer names, not verified; null if it cannot be read. */
export function violationIdOf(sent: unknown): string | null {
  const opened = openEnvelope('answer', sent);
  if (opened.ok) return opened.statement.predicate.violationId;
  const plain = UnsignedAnswer.safeParse(sent);
  return plain.success ? plain.data.violationId : null;
}
