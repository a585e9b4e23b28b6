import { databaseClock } from '../../storage/database/database';
import { recordResolution, resolutionOf } from '../../activities/committer/effect-resolution';
import { recordFreeze } from '../../activities/committer/target-freezes';
import { createLedger } from '../../storage/ledger/ledger';
import { publishedTargets } from '../../storage/plans/newest-revision';
import { CountersignError } from '../../client/errors';
import { Submission } from '../../policy/contracts/diff';
import type { StoredRow } from '../../policy/evidence/chain';
import { MESSAGES } from '../../policy/contracts/messages';
import type { Env } from '../../workers/config';
import { knownSettings } from '../../workers/local-client';
import { loadTrustedOperatorKey } from '../key-files';
import { withOperatorDatabase } from '../operator-database';
import { withTemporal } from '../temporal';

const APPLICATION = 'countersign-operator';
const SIGNAL_TIMEOUT_MS = 5_000;

export interface EffectRecord {
  readonly changeId: string;
  readonly applied: boolean;
  readonly reason: string;
  /** Path of the operator's key file. */
  readonly operatorKey: string;
}

/**
 * Signs and records whether an effect was applied, once: a repeated call only notifies the review again. `told`: whether the review was
 * notified; if not, it checks again within ten minutes. Throws `invalid_input` if the other outcome was recorded before.
 */
export async function recordEffect(env: Env, effect: EffectRecord): Promise<{ readonly told: boolean }> {
  const { changeId, applied, reason } = effect;
  await withOperatorDatabase(env, APPLICATION, async (db, operators) => {
    const key = loadTrustedOperatorKey(env, operators, effect.operatorKey, '--operator-key');
    const ledger = createLedger(db);
    const rows = await ledger.read(changeId);
    const { target } = submissionOf(changeId, rows);
    const counting = (of: readonly StoredRow[]) => resolutionOf(of, { changeId, target }, operators);
    if (counting(rows) === null) {
      const resolvedAt = (await databaseClock(db)()).toISOString();
      await recordResolution(ledger, { changeId, target, applied, reason, resolvedAt }, key);
    }
    // Another operator may have been first, also since the rows were read.
    const first = counting(await ledger.read(changeId));
    if (first !== null && first.applied !== applied)
      throw new CountersignError(
        'invalid_input',
        `The effect was resolved before as ${first.applied ? 'applied' : 'not applied'}, by the key ${first.keyId} at ${first.resolvedAt} (${first.reason}); the first statement counts, not this one`,
      );
  });
  return { told: await notifyReview(env, changeId) };
}

/**
 * The submission of a change whose effect is still to be resolved. Throws `not_found` for an unknown change, and `invalid_input` if
 * nothing is to be resolved.
 */
function submissionOf(changeId: string, rows: readonly StoredRow[]): Submission {
  const submission = Submission.safeParse(rows.find(({ row }) => row.kind === 'submitted')?.row.body['submission']);
  if (!submission.success) throw new CountersignError('not_found', `The ledger has no change ${changeId}`);
  if (rows.some(({ row }) => row.kind === 'receipt'))
    throw new CountersignError('invalid_input', 'The change has ended and has a receipt: there is nothing to resolve');
  if (!rows.some(({ row }) => row.kind === 'intent'))
    throw new CountersignError('invalid_input', 'No commit of this change has begun: there is no effect to resolve');
  return submission.data;
}

export interface FreezeRecord {
  readonly target: string;
  readonly frozen: boolean;
  readonly reason: string;
  /** Path of the operator's key file. */
  readonly operatorKey: string;
}

/** Signs and records that a target is frozen or unfrozen. Returns the number of the record. Throws `not_found` if no published policy names the target. */
export async function freezeTarget(env: Env, freeze: FreezeRecord): Promise<number> {
  const { target, frozen, reason } = freeze;
  return await withOperatorDatabase(env, APPLICATION, async (db, operators) => {
    const key = loadTrustedOperatorKey(env, operators, freeze.operatorKey, '--operator-key');
    const { all } = await publishedTargets(db, operators);
    if (!all.has(target))
      throw new CountersignError(
        'not_found',
        `No published policy names the target "${target}"; expected one of: ${[...all].sort().join(', ') || 'none is published'}`,
      );
    const at = (await databaseClock(db)()).toISOString();
    return await recordFreeze(db, { target, frozen, reason, at }, key);
  });
}

/** Whether the signal was delivered. The record is in the ledger in either case. */
async function notifyReview(env: Env, changeId: string): Promise<boolean> {
  const local = knownSettings(env);
  try {
    await withTemporal(env, local, (temporal) => {
      const handle = temporal.workflow.getHandle(changeId);
      return temporal.withDeadline(Date.now() + SIGNAL_TIMEOUT_MS, () => handle.signal(MESSAGES.lookAgain));
    });
    return true;
  } catch {
    return false;
  }
}
