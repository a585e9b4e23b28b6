import { z } from 'zod';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import { Name, Sha256Hex } from '../../policy/contracts/diff';
import type { StoredRow } from '../../policy/evidence/chain';
import { withHeartbeat } from '../heartbeat';
import { refusedEntry } from '../review/refused-entry';
import { rowOf } from '../rows';
import type { CommitInput, CommitReport } from '../review-types';
import { applyChange } from './apply-change';
import { assertNotFrozen } from './target-freezes';
import type { CommitDeps } from './commit-deps';
import { reconcile } from './reconcile';
import { beginCommit, settledOf } from './settlement';
import type { SlotUser } from './target-slots';
import { verifyChange, lastNOf, verifyUntilCurrent, type RefusedChange } from './verify-change';

const CommitShape = z.object({
  changeId: Sha256Hex,
  planHash: Sha256Hex,
  stagingSha: Sha256Hex.nullable(),
  fingerprint: Sha256Hex.nullable(),
});

/**
 * Verifies the review, writes the intent, and applies the change. Returns the recorded end if the change has already ended. The
 * intent is written only if no statement of a person arrived after the rows that were verified (`verifyUntilCurrent`).
 */
export async function commit(deps: CommitDeps, input: CommitInput): Promise<CommitReport> {
  const parsed = CommitShape.safeParse(input);
  if (!parsed.success)
    return {
      state: 'REFUSED',
      reason: 'commit_refused',
      explanation: 'input: expected the ids and hashes of one change',
    };
  return verifyUntilCurrent(parsed.data.changeId, () => verifyAndCommit(deps, parsed.data));
}

async function verifyAndCommit(deps: CommitDeps, input: CommitInput): Promise<CommitReport | 'moved'> {
  const rows = await deps.ledger.read(input.changeId);
  const settled = settledOf(rows);
  if (settled !== null) return settled;
  const user = slotUserOf(rows);
  if (user === null) return verifyRows(deps, input, rows);
  return withHeartbeat((signal) => deps.slots.run(user, signal, () => verifyRows(deps, input, rows)));
}

async function verifyRows(
  deps: CommitDeps,
  input: CommitInput,
  rows: readonly StoredRow[],
): Promise<CommitReport | 'moved'> {
  const { changeId } = input;
  const verified = await verifyChange(deps, input, rows);
  if (!verified.ok) return refused(deps, input, verified, rows);
  await assertNotFrozen(deps, changeId, verified.plan.target);
  const { planHash, stagingSha, fingerprint, at: verifiedAt } = verified;
  const intent = { planHash, stagingSha, fingerprint };
  const settlement = await beginCommit(deps, changeId, { verifiedAt, lastN: lastNOf(rows) }, intent);
  if (settlement === 'moved') return 'moved';
  // Rolled back, or a commit of another dry run has begun, for example by an earlier run of the workflow. The receipt must name what the
  // rows before the settlement name, and its intent.
  if (settlement.kind === 'decided' || canonicalJson(settlement.body) !== canonicalJson(intent))
    return reconcile(deps, changeId);
  return applyChange(deps, verified, settlement.at);
}

/** From the row `submitted`. Null if that is not valid: the change is then refused before it reaches a target. */
function slotUserOf(rows: readonly StoredRow[]): SlotUser | null {
  return SubmittedUser.safeParse(rowOf(rows, 'submitted')?.body).data?.submission ?? null;
}

const SubmittedUser = z.object({ submission: z.object({ tenant: Name, target: Name }) });

/** Does not settle the change: a commit activity that was scheduled manually must not close the review. Its workflow rolls back. */
async function refused(
  deps: CommitDeps,
  input: CommitInput,
  { check, explanation, reason }: RefusedChange,
  rows: readonly StoredRow[],
): Promise<CommitReport> {
  const entry = refusedEntry(deps.now(), { check, of: input, explanation }, { input: { ...input } });
  // No row for an invented id, so that a hostile caller cannot fill the ledger.
  if (rows.length > 0) await deps.ledger.append(input.changeId, [entry]);
  return { state: 'REFUSED', reason, explanation: `${check}: ${explanation}` };
}
