import { z } from 'zod';
import { Sha256Hex } from '../../policy/contracts/diff';
import type { StoredRow } from '../../policy/evidence/chain';
import type { LedgerEntry } from '../../policy/evidence/ledger-port';
import { cutExplanation } from '../../policy/text/cut-text';
import { refusalKey } from '../review/refusal-key';
import type { CommitInput, CommitResult } from '../review-types';
import { applyChange } from './apply-change';
import { assertNotFrozen } from './assert-not-frozen';
import type { CommitDeps } from './commit-deps';
import { factsOfVerified } from './receipt-facts';
import { begin, closeRolledBack, settledOf } from './settlement';
import { verifyChange, type RefusedChange } from './verify-change';

const CommitShape = z.object({
  changeId: Sha256Hex,
  planHash: Sha256Hex,
  stagingSha: Sha256Hex.nullable(),
  fingerprint: Sha256Hex.nullable(),
});

/** Verifies the review, writes the intent, and applies the change. Returns the recorded end if the change has already ended. */
export async function commit(deps: CommitDeps, input: CommitInput): Promise<CommitResult> {
  const parsed = CommitShape.safeParse(input);
  if (!parsed.success)
    return {
      state: 'REFUSED',
      reason: 'commit_refused',
      explanation: 'input: expected the ids and hashes of one change',
    };
  const { changeId } = parsed.data;
  const rows = await deps.ledger.read(changeId);
  const settled = settledOf(rows);
  if (settled !== null) return settled;
  const verified = await verifyChange(deps, parsed.data, rows);
  if (!verified.ok) return refused(deps, parsed.data, verified, rows);
  await assertNotFrozen(deps, changeId, verified.plan.target);
  const { planHash, stagingSha, fingerprint, at: verifiedAt } = verified;
  const intent = { kind: 'intent', verifiedAt } as const;
  const settlement = await begin(deps, changeId, intent, { planHash, stagingSha, fingerprint });
  if (settlement.kind === 'decided')
    return closeRolledBack(deps, factsOfVerified(verified), settlement.reason, settlement.explanation);
  // An answer that was recorded during the verification precedes the intent, so a reject among them counts.
  const now = await deps.ledger.read(changeId);
  if (countAnswers(now) !== countAnswers(rows)) {
    const again = await verifyChange(deps, parsed.data, now);
    if (!again.ok) return refused(deps, parsed.data, again, now);
  }
  return applyChange(deps, verified, settlement.at);
}

/** Does not settle the change: a commit activity that was scheduled manually must not close the review. Its workflow rolls back. */
async function refused(
  deps: CommitDeps,
  input: CommitInput,
  { check, explanation, reason }: RefusedChange,
  rows: readonly StoredRow[],
): Promise<CommitResult> {
  const body = { check, explanation: cutExplanation(explanation), input: { ...input } };
  const entry: LedgerEntry = {
    kind: 'refused',
    at: deps.now().toISOString(),
    factKey: refusalKey(check, input),
    body,
  };
  // No row for an invented id, so that a hostile caller cannot fill the ledger.
  if (rows.length > 0) await deps.ledger.append(input.changeId, [entry]);
  return { state: 'REFUSED', reason, explanation: `${check}: ${explanation}` };
}

function countAnswers(rows: readonly StoredRow[]): number {
  return rows.filter(({ row }) => row.kind === 'answer_accepted').length;
}
