/**
 * The only way to admit an answer, sent as an update or as a signal. Each answer of a message gets one verdict.
 *
 * N1 An answer counts only once the ledger has its row: the ledger is written first, then the result goes to the workflow.
 * N2 Admission is idempotent: a retry after a lost result, or the same answer twice, finds the existing row and returns it. A
 *    refusal that is repeated is counted.
 * N3 After the start of the commit or of the rollback nothing is admitted. The ledger refuses it in the transaction in which it would
 *    write the row, so an accepted reject or retraction is never followed by a commit.
 * N4 Of each person the answer with the latest signed `issuedAt` counts. An older one that arrives later is refused, and a reject
 *    is final. Of answers with the same time the stricter counts, also within one message: reject, retract, confirm.
 * N5 Answers are compared with the ledger rows of the change and its pinned plan, never with what the workflow says: anyone with write
 *    access to the namespace can schedule this activity, and a row that the committer cannot verify would stop the review for ever.
 *    A change that was not opened gets no row.
 * N6 The committer does not trust this activity: it verifies the rows again, against its own plan.
 * N7 A verdict is written only if no other one was written since the rows were read that it is based on; otherwise the attempt fails
 *    and is repeated. An attempt that timed out can still run while it is repeated, and the workflow learns the verdict of one of them:
 *    if one refused an answer and the other recorded it as accepted, the review would wait for an answer that its ledger has. It is not
 *    assessed again within the attempt: what was refused as too early may be acceptable by now. A refusal that is only counted has no
 *    row, so a concurrent attempt does not see it; the workflow then learns the answer by `readStatements`.
 */
import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import { withCurrentKeys, type KeyLookup, type KeyRegistry } from '../../policy/evidence/key-registry';
import {
  VERDICTS,
  type Appended,
  type Ledger,
  type LedgerEntry,
  type ProjectionPatch,
} from '../../policy/evidence/ledger-port';
import { assessAnswer, type CountedAnswer, type RefusedAnswer } from '../../signing/assess-answer';
import { statementsOf, toAdmitted, verifyAcceptedAnswers } from '../../signing/verify-answers';
import type { PlanSource } from '../../storage/plans/plan-source';
import type { Admitted, ReviewActivities } from '../review-types';
import { acceptedEntry, refusedAnswerEntry } from './answer-rows';
import { parseAnswerMessage, violationIdOf, byViolation, refusedResult, type AnswerOutcome } from './answer-message';
import { CLOSED, assessMessage, restoreAdmitted, type ValidAnswer, type Verdict } from './assess-message';
import { ENDING_ROWS, isEnding } from './opened-change';
import { answerScopeFromRows, SCOPE_ROWS } from './scopes-from-rows';
import type { AdmittedAnswer } from '../../policy/contracts/answer';
import { deadlineOf } from '../../policy/decide/counted-answers';
import { stillPending } from '../../policy/decide/decide';
import type { StoredRow } from '../../policy/evidence/chain';
import { requesterIn, rowOf, violationsIn } from '../rows';

export interface AnswerDeps {
  readonly ledger: Ledger;
  readonly keys: Pick<KeyRegistry, 'snapshot'>;
  readonly plans: Pick<PlanSource, 'byHash'>;
  /** The clock of the database: the same one that the deadline began with. */
  readonly databaseNow: () => Promise<Date>;
}

/** `admitAnswer` returns every refusal as data. It throws only STORE_UNAVAILABLE, which Temporal retries (also for N7). */
export function createAnswerActivities(deps: AnswerDeps): Pick<ReviewActivities, 'admitAnswer'> {
  const { ledger, keys, plans, databaseNow } = deps;

  return {
    async admitAnswer(input): Promise<Admitted> {
      const at = (await databaseNow()).toISOString();
      const stored = await ledger.readKinds(input.changeId, [...SCOPE_ROWS, ...VERDICTS, ...ENDING_ROWS]);
      const scope = await answerScopeFromRows(plans, input.changeId, stored);
      if (scope === null) return notOpened(input.message);
      const rows = stored.flatMap(({ row }) =>
        row.kind === 'answer_accepted' || row.kind === 'retracted' ? [row] : [],
      );
      const closed = input.closed || isEnding(stored);
      const judgeAll = (find: KeyLookup): ValidAnswer[] =>
        parseAnswerMessage(input.message).map(({ sent, problem }) => {
          if (problem !== null) return { sent, assessed: { code: 'malformed', message: problem, violationId: null } };
          const assessed = assessAnswer(sent, scope, find, at);
          return {
            sent,
            assessed: restoreAdmitted(assessed, scope, rows, (then) => assessAnswer(sent, scope, find, then)),
          };
        });
      const { valid, before } = await withCurrentKeys(keys, (find) => ({
        valid: judgeAll(find),
        before: statementsOf(verifyAcceptedAnswers({ rows, scope, keys: find, nonces: null, at })),
      }));
      // Not with a confirmation by a key that was revoked since: its owner may answer with another key.
      const verify = new Set<unknown>(before.map(({ digest }) => digest));
      const standing = rows.filter(({ body }) => verify.has(body['digest']));
      const state = { ...input, closed, late: pastDeadline(stored, at) };
      const verdicts = assessMessage(valid, state, standing, at);

      const refusal = (sent: unknown, refused: RefusedAnswer): LedgerEntry =>
        refusedAnswerEntry({ sent, refused, via: input.via, at });
      const entries = verdicts.map(({ sent, assessed }) => {
        if (assessed.code === 'accepted') return acceptedEntry(sent, assessed, { at, via: input.via });
        return assessed.code === 'duplicate' ? null : refusal(sent, assessed);
      });
      const counted = verdicts.flatMap(({ assessed }) =>
        assessed.code === 'accepted' ? [toAdmitted(assessed, at)] : [],
      );
      const patch = counted.length === 0 ? undefined : await pendingAfter(plans, stored, [...before, ...counted], at);
      const appended = await appendSome(ledger, input.changeId, entries, patch, stored.at(-1)?.row.n);
      if (appended.some((each) => each?.status === 'moved')) throw judgedSince(input.changeId);
      // The ledger may refuse an answer that was valid: its nonce was spent, or the commit has begun. Record that too.
      const refused = verdicts.map(({ assessed }, i) =>
        assessed.code === 'accepted' ? refusedByLedger(assessed, appended[i] ?? null) : null,
      );
      const refusals = refused.map((each, i) => (each === null ? null : refusal(verdicts[i]?.sent, each)));
      const recorded = await appendSome(ledger, input.changeId, refusals);
      const known = new Set(input.admitted);
      const outcomes = verdicts.map(({ assessed }, i): AnswerOutcome => {
        const each = refused[i] ?? null;
        return each === null
          ? outcomeOf(assessed, appended[i] ?? null, known)
          : { violationId: each.violationId, result: refusedResult(each, recorded[i] ?? undefined) };
      });
      // `known` has those of this message by now. The workflow may have lost the results of other messages.
      const missing = before.filter(({ digest }) => !known.has(digest));
      return {
        results: byViolation(outcomes),
        admitted: [...missing, ...outcomes.flatMap(({ admitted }) => admitted ?? [])],
      };
    },
  };
}

/** N7 */
export function judgedSince(changeId: string): CountersignFailure {
  return CountersignFailure.retryable(
    `Another statement about ${changeId} was assessed at the same time, so this one was not recorded; this attempt is repeated`,
    FailureType.Store,
  );
}

/** Refuses every answer and records nothing: an invented id must not create rows. */
function notOpened(message: unknown): Admitted {
  const outcomes = parseAnswerMessage(message).map(({ sent, problem }): AnswerOutcome =>
    problem === null
      ? { violationId: violationIdOf(sent), result: { code: 'too_early', message: 'no such change was opened' } }
      : { violationId: null, result: { code: 'malformed', message: problem } },
  );
  return { results: byViolation(outcomes), admitted: [] };
}

/** Appends the entries that are not null, and returns the results in the places of all. */
async function appendSome(
  ledger: Ledger,
  changeId: string,
  entries: readonly (LedgerEntry | null)[],
  projection?: ProjectionPatch,
  expectedN?: number,
): Promise<readonly (Appended | null)[]> {
  const some = entries.flatMap((entry) => entry ?? []);
  if (some.length === 0) return [];
  const results = [...(await ledger.append(changeId, some, projection, expectedN))];
  return entries.map((entry) => (entry === null ? null : (results.shift() ?? null)));
}

export const REGRESSED =
  'the counter of the passkey is not above that of its last assertion; sign again, and if this repeats, have the passkey revoked: it may have been copied';

/** Why the ledger did not take a valid answer; null if it has it. */
function refusedByLedger({ violationId }: CountedAnswer, appended: Appended | null): RefusedAnswer | null {
  if (appended?.status === 'settled') return { code: 'closed', message: CLOSED, violationId };
  if (appended?.status === 'counter_regressed') return { code: 'counter_regressed', message: REGRESSED, violationId };
  return appended?.stored == null
    ? { code: 'nonce_reused', message: 'its nonce was already used; sign a new answer', violationId }
    : null;
}

/** Of a verdict that the ledger did not refuse. `known`: digests of the answers that the workflow counts already, or that earlier items of this message add. */
function outcomeOf(assessed: Verdict['assessed'], appended: Appended | null, known: Set<string>): AnswerOutcome {
  const { violationId } = assessed;
  const duplicate = { code: 'duplicate', message: 'this answer was already recorded' } as const;
  if (assessed.code === 'duplicate') {
    const { recorded } = assessed;
    const counted = known.has(recorded.digest);
    known.add(recorded.digest);
    return { violationId, result: duplicate, ...(counted ? {} : { admitted: recorded }) };
  }
  if (assessed.code !== 'accepted') return { violationId, result: refusedResult(assessed, appended ?? undefined) };
  if (appended?.stored == null) return { violationId, result: { code: 'closed', message: CLOSED } };
  const { digest } = assessed;
  const counted = known.has(digest);
  known.add(digest);
  if (counted) return { violationId, result: duplicate };
  // If the workflow does not count it yet, the result of an earlier attempt was lost: return the answer again.
  const admitted = toAdmitted(assessed, appended.stored.row.at);
  return { violationId, result: { code: 'accepted', message: `${assessed.decision} by ${assessed.person}` }, admitted };
}

/** Ids of the violations of a change that can no longer be confirmed at this time, ISO 8601. Empty before the disclosure. */
function pastDeadline(rows: readonly StoredRow[], at: string): ReadonlySet<string> {
  const disclosedAt = rowOf(rows, 'disclosed')?.at ?? at;
  const past = violationsIn(rows).filter(
    (violation) => violation.need === 'human' && deadlineOf(violation, disclosedAt) <= Date.parse(at),
  );
  return new Set(past.map(({ violationId }) => violationId));
}

/** For lists of reviews: how many violations still wait for a person after `answers`, and until when. */
async function pendingAfter(
  plans: Pick<PlanSource, 'byHash'>,
  rows: readonly StoredRow[],
  answers: readonly AdmittedAnswer[],
  at: string,
): Promise<ProjectionPatch> {
  const { plan } = await plans.byHash(String(rowOf(rows, 'planned')?.body['planHash']), 'ignored');
  const { pending, nextDeadline } = stillPending({
    plan,
    violations: violationsIn(rows),
    answers,
    requester: requesterIn(rows),
    disclosedAt: rowOf(rows, 'disclosed')?.at ?? null,
    at,
  });
  return { pending: pending.length, deadlineAt: nextDeadline };
}
