import { changeId as changeIdOf, inputSha as inputShaOf } from '../../policy/contracts/change-id';
import { Sha256Hex } from '../../policy/contracts/diff';
import type { LedgerKind } from '../../policy/contracts/ledger';
import { Mode } from '../../policy/contracts/outcome';
import type { StoredRow } from '../../policy/evidence/chain';
import { submissionIn } from '../rows';
import type { ReceiptFacts } from './settlement';
import type { VerifiedChange } from './verify-change';

export function factsOfVerified(change: VerifiedChange): ReceiptFacts {
  const { submission, inputSha, plan, planHash, stagingSha, fingerprint } = change;
  const { tenant, target, sourceTool, diffSha } = submission;
  return {
    changeId: changeIdOf(submission),
    tenant,
    target,
    sourceTool,
    inputSha,
    diffSha,
    planHash,
    stagingSha,
    fingerprint,
    mode: plan.mode,
  };
}

/** The facts of a change by its ledger rows; null if it was never opened. */
export function factsOfRows(rows: readonly StoredRow[], changeId: string): ReceiptFacts | null {
  const body = (kind: LedgerKind): Readonly<Record<string, unknown>> | undefined =>
    rows.findLast((r) => r.row.kind === kind)?.row.body;
  const submission = submissionIn(rows);
  if (submission === null) return null;
  const { tenant, target, sourceTool, diffSha } = submission;
  // A malformed row must not lead to a receipt that cannot be signed.
  const sha = (value: unknown): string | null => Sha256Hex.safeParse(value).data ?? null;
  const mode = Mode.safeParse(body('planned')?.['mode']);
  return {
    changeId,
    tenant,
    target,
    sourceTool,
    diffSha,
    inputSha: inputShaOf(submission),
    planHash: sha(body('planned')?.['planHash']),
    stagingSha:
      sha(body('intent')?.['stagingSha']) ??
      sha(body('disclosed')?.['stagingSha']) ??
      sha(body('staged')?.['stagingSha']),
    fingerprint: sha(body('disclosed')?.['fingerprint']),
    mode: mode.success ? mode.data : 'enforced',
  };
}
