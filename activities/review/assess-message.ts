/** Judges the answers of one message against the review: those that were given before, its deadlines, and whether it has ended. */
import type { LedgerRow } from '../../policy/contracts/ledger';
import type { RecordedAnswer } from '../../policy/contracts/answer';
import type { AnswerScope, CountedAnswer, RefusedAnswer } from '../../signing/assess-answer';
import type { AdmitInput } from '../review-types';
import { acceptedEntry } from './answer-rows';
import { afterMessage, assessingOrder, type RepeatedAnswer } from './answer-order';

export const CLOSED = 'the review is already decided; further answers have no effect';
const LATE = 'the deadline of this violation has passed, so a confirmation no longer counts; a reject still does';

interface AdmitState extends AdmitInput {
  /** Violations whose deadline has passed. */
  readonly late: ReadonlySet<string>;
}

export interface ValidAnswer {
  readonly sent: unknown;
  readonly assessed: CountedAnswer | RefusedAnswer;
}

export interface Verdict {
  readonly sent: unknown;
  readonly assessed: CountedAnswer | RefusedAnswer | RepeatedAnswer;
}

/** An answer that was admitted in time stays valid: a retry, or the same answer again, must not be refused as expired. */
export function restoreAdmitted(
  assessed: CountedAnswer | RefusedAnswer,
  { fingerprint }: AnswerScope,
  rows: readonly LedgerRow[],
  judgeAt: (at: string) => CountedAnswer | RefusedAnswer,
): CountedAnswer | RefusedAnswer {
  if (assessed.code !== 'expired') return assessed;
  for (const row of rows) {
    if (row.body['violationId'] !== assessed.violationId || row.body['fingerprint'] !== fingerprint) continue;
    const atAdmission = judgeAt(row.at);
    if (atAdmission.code === 'accepted' && atAdmission.digest === row.body['digest']) return atAdmission;
  }
  return assessed;
}

/** Judges the answers of one message, each after those that could override it. The result has the order of the message. */
export function assessMessage(
  answers: readonly ValidAnswer[],
  input: AdmitState,
  rows: readonly RecordedAnswer[],
  at: string,
): readonly Verdict[] {
  const verdicts: Verdict[] = [...answers];
  const before: RecordedAnswer[] = [];
  const order = assessingOrder(
    answers.map(({ assessed }) => (assessed.code === 'accepted' ? assessed.decision : null)),
  );
  for (const i of order) {
    const answer = answers[i];
    if (answer === undefined) continue;
    const assessed = applyReviewState(answer.assessed, input, rows, before);
    verdicts[i] = { sent: answer.sent, assessed };
    if (assessed.code === 'accepted')
      before.push({
        body: acceptedEntry(answer.sent, assessed, { at, via: input.via }).body as RecordedAnswer['body'],
        at,
      });
  }
  return verdicts;
}

/** Refuses an answer to a closed review, and one that a later answer, or a reject, of the same person overrides (N4). */
function applyReviewState(
  assessed: CountedAnswer | RefusedAnswer,
  input: AdmitState,
  rows: readonly RecordedAnswer[],
  before: readonly RecordedAnswer[],
): Verdict['assessed'] {
  const { violationId } = assessed;
  // A retry after a lost result finds its row also after the end (N2).
  const recorded = assessed.code === 'accepted' && rows.some(({ body }) => body['digest'] === assessed.digest);
  if (input.closed && assessed.code !== 'malformed' && !recorded)
    return { code: 'closed', message: CLOSED, violationId };
  if (assessed.code !== 'accepted') return assessed;
  if (assessed.decision === 'confirm' && !recorded && input.late.has(assessed.violationId))
    return { code: 'expired', message: LATE, violationId };
  return afterMessage(assessed, rows, before);
}
