import { settledOf } from '../activities/committer/settlement';
import { submissionIn } from '../activities/rows';
import type { SpendResult } from '../policy/contracts/spent';
import type { Ledger } from '../policy/evidence/ledger-port';

/**
 * Records the use of the approval of a cooperative change, before its effect. The row `spent` is written at most once; only a caller with
 * the nonce in it may perform the effect. `keyId`: the key of a caller of the gateway, which must have submitted the change.
 */
export async function spendApproval(
  ledger: Pick<Ledger, 'read' | 'append'>,
  now: () => Date,
  { changeId, nonce, keyId }: { readonly changeId: string; readonly nonce: string; readonly keyId: string | null },
): Promise<SpendResult> {
  const rows = await ledger.read(changeId);
  const settled = settledOf(rows);
  if (settled?.state !== 'COMMITTED' || settled.mode !== 'cooperative')
    return { spent: false, message: 'The ledger has no approval of this change in cooperative mode' };
  const submitter = submissionIn(rows)?.envelope?.signatures[0]?.keyid;
  if (keyId !== null && submitter !== undefined && submitter !== keyId)
    return { spent: false, message: 'Only the key that submitted the change can use its approval' };
  const [appended] = await ledger.append(changeId, [
    { kind: 'spent', at: now().toISOString(), factKey: 'spent', body: { nonce, keyId } },
  ]);
  const row = appended?.stored?.row;
  return row?.body['nonce'] === nonce
    ? { spent: true, message: 'This call may perform the effect' }
    : { spent: false, message: `The approval was already used${row === undefined ? '' : `, at ${row.at}`}` };
}
