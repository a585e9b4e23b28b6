/** Records answers that were refused before they reached their workflow. */
import type { AnswerResults } from '../../policy/contracts/answer';
import type { Ledger } from '../../policy/evidence/ledger-port';
import type { RefusedAnswer } from '../../signing/assess-answer';
import { byViolation, parseAnswerMessage, refusedResult, violationIdOf } from './answer-message';
import { refusedAnswerEntry } from './answer-rows';

interface LateDeps {
  readonly ledger: Ledger;
  readonly now: () => Date;
}

/** Of an existing review, each answer for its own reason. */
export async function recordRefusedAnswers(
  { ledger, now }: LateDeps,
  changeId: string,
  refusals: readonly (RefusedAnswer & { readonly sent: unknown })[],
): Promise<AnswerResults> {
  const at = now().toISOString();
  const appended = await ledger.append(
    changeId,
    refusals.map(({ sent, ...refused }) => refusedAnswerEntry({ sent, refused, via: 'late', at })),
  );
  return byViolation(
    refusals.map((refused, i) => ({
      violationId: refused.violationId,
      result: refusedResult(refused, appended[i]),
    })),
  );
}

/**
 * All answers of a message that can no longer reach its workflow. Returns null and records nothing if the ledger has no such review: an
 * invented id must not create rows.
 */
export async function recordLateAnswers(
  deps: LateDeps,
  changeId: string,
  message: unknown,
  why: Pick<RefusedAnswer, 'code' | 'message'>,
): Promise<AnswerResults | null> {
  if ((await deps.ledger.review(changeId)) === null) return null;
  const refusals = parseAnswerMessage(message).map(({ sent, problem }) =>
    problem === null
      ? { sent, ...why, violationId: violationIdOf(sent) }
      : { sent, code: 'malformed' as const, message: problem, violationId: null },
  );
  return recordRefusedAnswers(deps, changeId, refusals);
}
