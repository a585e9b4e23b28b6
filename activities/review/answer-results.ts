import type { AdmittedAnswer, AnswerResult, AnswerResults } from '../../policy/contracts/answer';
import type { Appended } from '../../policy/evidence/ledger-port';
import type { RefusedAnswer } from '../../signing/judge-answer';
import { refusedText } from './answer-refusal';

export interface Outcome {
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
export function byViolation(outcomes: readonly Outcome[]): AnswerResults {
  const results: Record<string, AnswerResult> = {};
  const counts = ({ result }: Outcome): boolean => result.code === 'accepted' || result.code === 'duplicate';
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
