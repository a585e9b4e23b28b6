import type { AdmittedAnswer, AnswerResult, AnswerResults } from '../../policy/contracts/answer';
import { MAX_REFUSED_ROWS, type Appended } from '../../policy/evidence/ledger-port';
import type { RefusedAnswer } from '../../signing/judge-answer';

export interface Outcome {
  readonly violationId: string | null;
  readonly result: AnswerResult;
  readonly admitted?: AdmittedAnswer;
}

/** Past the bound a refusal is only counted, and says so, with its reason. */
export function refusedResult(
  refused: Pick<RefusedAnswer, 'code' | 'message'>,
  appended: Appended | undefined,
): AnswerResult {
  if (appended?.status !== 'counted') return { code: refused.code, message: refused.message };
  return {
    code: 'too_many_refusals',
    message: `${refused.code}: ${refused.message}; this review has ${MAX_REFUSED_ROWS} refusals on record, further ones are only counted`,
  };
}

/** By violation id, or `#<place>`. Where several answers name one violation, the one that counts keeps its key: a forged one cannot hide it. */
export function byViolation(outcomes: readonly Outcome[]): AnswerResults {
  const results: Record<string, AnswerResult> = {};
  const counts = ({ result }: Outcome): boolean => result.code === 'accepted' || result.code === 'duplicate';
  const numbered = outcomes.map((outcome, place) => ({ outcome, place }));
  for (const { outcome, place } of [
    ...numbered.filter((o) => counts(o.outcome)),
    ...numbered.filter((o) => !counts(o.outcome)),
  ]) {
    const { violationId, result } = outcome;
    results[violationId === null || violationId in results ? `#${place}` : violationId] = result;
  }
  return results;
}
