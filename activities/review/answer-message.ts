import {
  MAX_ANSWERS_PER_MESSAGE,
  UnsignedAnswer,
  type AdmittedAnswer,
  type AnswerResult,
  type AnswerResults,
} from '../../policy/contracts/answer';
import { openEnvelope } from '../../policy/evidence/dsse';
import type { Appended } from '../../policy/evidence/ledger-port';
import type { RefusedAnswer } from '../../signing/assess-answer';
import { refusedText } from './answer-rows';

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

export interface AnswerOutcome {
  readonly violationId: string | null;
  readonly result: AnswerResult;
  readonly admitted?: AdmittedAnswer;
}

/** Beyond MAX_REFUSED_ROWS the ledger only counts refusals; the result then says so and contains the original reason. */
export function refusedResult(
  refused: Pick<RefusedAnswer, 'code' | 'message'>,
  appended: Appended | undefined,
): AnswerResult {
  if (appended?.status !== 'counted') return { code: refused.code, message: refused.message };
  return { code: 'too_many_refusals', message: refusedText(refused) };
}

/**
 * Results by violation id, or by `#<index>` if the id is unknown or taken. If several answers name one violation, the one
 * that counts gets the id, so that a forged answer cannot hide it.
 */
export function byViolation(outcomes: readonly AnswerOutcome[]): AnswerResults {
  const results: Record<string, AnswerResult> = {};
  const counts = ({ result }: AnswerOutcome): boolean => result.code === 'accepted' || result.code === 'duplicate';
  const numbered = outcomes.map((outcome, index) => ({ outcome, index }));
  for (const { outcome, index } of [
    ...numbered.filter((o) => counts(o.outcome)),
    ...numbered.filter((o) => !counts(o.outcome)),
  ]) {
    const { violationId, result } = outcome;
    results[violationId === null || violationId in results ? `#${index}` : violationId] = result;
  }
  return results;
}
