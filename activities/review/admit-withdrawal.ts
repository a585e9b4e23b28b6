/**
 * The only way to withdraw or supersede a change, sent as an update or as a signal.
 *
 * M1 It counts only once the ledger has the row `withdrawn` or `superseded`. From then on no commit can begin.
 * M2 Nothing in the input is trusted but the message, which is verified: submission, plan and the replacing change come from the
 *    ledger. A message that names a replacing change without a signature is assessed by the signed submission of that change.
 * M3 As N7 of `admitAnswer`: the row is written only if no other verdict was written since the rows were read.
 * M4 Whatever the message, the result says what the ledger has, so that a restarted workflow ends as the one before it.
 * M5 The row has the time of the database, read before the registry, and the registry is never a cached one. Otherwise a statement could
 *    be admitted with a key that was revoked before the time of its row, and no verifier would accept that row.
 */
import type { JsonObject } from '../../policy/contracts/canonical-json';
import type { Submission } from '../../policy/contracts/diff';
import type { WithdrawCode } from '../../policy/contracts/withdrawal';
import { VERDICTS, type LedgerEntry } from '../../policy/evidence/ledger-port';
import { assessWithdrawal, type CountedWithdrawal } from '../../signing/assess-withdrawal';
import type { AdmittedWithdrawal, AdmitWithdrawalInput, ReviewActivities } from '../review-types';
import { stoppedIn } from '../rows';
import { spentNonce, refusedAnswerEntry, refusedText } from './answer-rows';
import { judgedSince, REGRESSED, type AnswerDeps } from './admit-answer';
import { OPENED_ROWS } from './opened-change';
import { withdrawalScopeFromRows } from './scopes-from-rows';

/** `admitWithdrawal` returns every refusal as data. It throws only STORE_UNAVAILABLE, which Temporal retries. */
export function createWithdrawalActivities(deps: AnswerDeps): Pick<ReviewActivities, 'admitWithdrawal'> {
  return { admitWithdrawal: (input) => admit(deps, input) };
}

async function admit(deps: AnswerDeps, input: AdmitWithdrawalInput): Promise<AdmittedWithdrawal> {
  const { ledger, keys, databaseNow } = deps;
  const { changeId, kind, message } = input;
  const at = (await databaseNow()).toISOString();
  const rows = await ledger.readKinds(changeId, [...OPENED_ROWS, ...VERDICTS]);
  const lastN = rows.at(-1)?.row.n;
  const scope = await withdrawalScopeFromRows(deps, changeId, rows, { kind, message });
  // No row for an invented id, so that a hostile caller cannot fill the ledger.
  if (scope === null) return { result: { code: 'not_open', message: 'No such change was opened' }, stopped: null };
  const assessed = assessWithdrawal(kind, message, scope, (await keys.snapshot(0)).find, at);
  const found = stoppedIn(rows);
  if (assessed.code !== 'accepted')
    return { result: await recordRefusedMessage(ledger, input, assessed, at, lastN), stopped: found };

  const [appended] = await ledger.append(changeId, [toEntry(assessed, scope.other, at, input.via)], undefined, lastN);
  if (appended?.status === 'moved') throw judgedSince(changeId);
  const row = appended?.stored ?? null;
  if (row !== null) {
    const stopped = stoppedIn([row]);
    const duplicate = { code: 'duplicate', message: stopped?.explanation ?? '' } as const;
    const accepted = { code: 'accepted', message: assessed.explanation } as const;
    return { result: appended?.existing === true ? duplicate : accepted, stopped };
  }
  const tooLate = 'The commit has begun, or the review is over';
  const refused: Refused =
    appended?.status === 'settled'
      ? { code: 'too_late', message: tooLate }
      : appended?.status === 'counter_regressed'
        ? { code: 'counter_regressed', message: REGRESSED }
        : { code: 'nonce_reused', message: 'its nonce was already used; sign a new statement' };
  return { result: await recordRefusedMessage(ledger, input, refused, at), stopped: found };
}

type Refused = { readonly code: WithdrawCode; readonly message: string };
type Message = Pick<AdmitWithdrawalInput, 'changeId' | 'kind' | 'message'> & { readonly via: string };

/** Records a message that was refused before it reached the workflow. */
export function recordRefusedWithdrawal(
  { ledger, now }: Pick<AnswerDeps, 'ledger'> & { readonly now: () => Date },
  changeId: string,
  message: Omit<Message, 'changeId'>,
  refused: Refused,
): Promise<AdmittedWithdrawal['result']> {
  return recordRefusedMessage(ledger, { ...message, changeId }, refused, now().toISOString());
}

/**
 * Records a refused message. The result says whether the refusal has its own row, or was counted on another. `lastN`: as `expectedN` of
 * the ledger; the call then throws if another verdict was written.
 */
async function recordRefusedMessage(
  ledger: AnswerDeps['ledger'],
  { changeId, kind, message, via }: Message,
  refused: Refused,
  at: string,
  lastN?: number,
): Promise<AdmittedWithdrawal['result']> {
  const about = { ...refused, violationId: null, about: kind };
  const entry = refusedAnswerEntry({ sent: message, refused: about, via, at });
  const [appended] = await ledger.append(changeId, [entry], undefined, lastN);
  if (appended?.status === 'moved') throw judgedSince(changeId);
  return appended?.status === 'counted'
    ? { code: 'too_many_refusals', message: refusedText(refused) }
    : { code: refused.code, message: refused.message };
}

function toEntry(assessed: CountedWithdrawal, other: Submission | null, at: string, via: string): LedgerEntry {
  const { reason, explanation, by, statement, keyId, person, digest } = assessed;
  const evidence = { statement, by, other, explanation, keyId, person, digest, via };
  return {
    kind: reason,
    at,
    factKey: 'stopped',
    body: evidence as unknown as JsonObject,
    ...spentNonce(assessed),
  };
}
