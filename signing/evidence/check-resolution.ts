import type { LedgerRow } from '../../policy/contracts/ledger';
import type { ReceiptPredicate } from '../../policy/contracts/outcome';
import { signedByOperator } from '../operator-verify';
import { fail } from './check';

/**
 * Where the receipt rests on an operator's word, that word is in the rows: signed by a trusted operator, of this change and
 * target, and of the same end.
 */
export function checkResolution(
  receipt: ReceiptPredicate,
  rows: readonly LedgerRow[],
  operators: readonly string[],
): string {
  const { changeId, target, effect } = receipt;
  const claimed = effect?.['resolution'] as { readonly keyId?: unknown; readonly resolvedAt?: unknown } | undefined;
  if (claimed === undefined) return 'the committer found it in the target itself';
  for (const row of rows) {
    if (row.kind !== 'resolved') continue;
    const said = signedByOperator('effect-resolution', row.body['envelope'], operators);
    if (said === null || said.changeId !== changeId || said.target !== target) continue;
    if (said.applied !== (receipt.action === 'COMMIT')) fail(`row ${row.n}: the operator said the opposite`);
    if (said.keyId !== claimed.keyId || said.resolvedAt !== claimed.resolvedAt)
      fail(`row ${row.n}: the receipt names another operator's word`);
    return `operator ${said.keyId.slice(0, 16)} said so at ${said.resolvedAt}: ${said.reason}`;
  }
  return fail('the receipt rests on an operator, and no row holds the word of a trusted one');
}
