import type { Submission } from '../../policy/contracts/diff';
import { inputSha as inputShaOf } from '../../policy/contracts/change-id';
import type { LedgerRow } from '../../policy/contracts/ledger';
import type { ReceiptPredicate } from '../../policy/contracts/outcome';
import type { EvidenceBundle } from '../../policy/evidence/bundle';
import { assertSame, fail } from './check';
import { signedByOne } from './check-keys';
import { rowOf } from './check-rows';

/** A trusted committer signed it, over this change, as its rows have it. */
export function checkReceipt(
  bundle: EvidenceBundle,
  rows: readonly LedgerRow[],
  committers: readonly string[],
): readonly [string, ReceiptPredicate] {
  const row = rowOf(rows, 'receipt');
  if (bundle.receipt === null) {
    if (row !== null) fail(`row ${row.n} holds a receipt, and the bundle leaves it out`);
    fail('no receipt: no committer says how this ended, so the outcome is unverified');
  }
  if (row === null) fail('no row holds the receipt');
  assertSame(bundle.receipt, row.body['envelope'], `it is not the one of row ${row.n}`);
  const receipt = signedByOne('receipt', bundle.receipt, committers, 'committer');
  assertSame(receipt, row.body['predicate'], `row ${row.n} says otherwise than the receipt it holds`);
  const { action, state, reason, changeId } = receipt;
  if (changeId !== bundle.changeId) fail('it is of another change');
  if ((action === 'COMMIT') !== (state === 'COMMITTED') || (action === 'COMMIT') !== (reason === null))
    fail(`action ${action}, state ${state} and reason ${reason ?? 'none'} do not go together`);
  return [
    `${state}${reason === null ? '' : ` (${reason})`} by committer ${receipt.keyId.slice(0, 16)} at ${receipt.at}, ${receipt.mode}`,
    receipt,
  ];
}

/** What the receipt says of the change is what rows, plan and submission say; and the row that settled it says the same end. */
export function checkSettlement(
  receipt: ReceiptPredicate,
  rows: readonly LedgerRow[],
  submission: Submission | null,
  planHash: string | null,
): readonly [string, LedgerRow] {
  const differs = (member: string, expected: unknown): void => {
    const said = receipt[member as keyof ReceiptPredicate];
    if (said !== expected) fail(`${member}: the receipt says ${String(said)}, the rows give ${String(expected)}`);
  };
  if (submission !== null) {
    const { tenant, target, sourceTool, diffSha } = submission;
    for (const [member, value] of Object.entries({
      tenant,
      target,
      sourceTool,
      diffSha,
      inputSha: inputShaOf(submission),
    }))
      differs(member, value);
  }
  const disclosed = rowOf(rows, 'disclosed');
  differs('planHash', planHash);
  differs('fingerprint', disclosed?.body['fingerprint'] ?? null);
  differs('mode', rowOf(rows, 'planned')?.body['mode'] ?? 'enforced');
  if (disclosed !== null) differs('stagingSha', disclosed.body['stagingSha'] ?? null);

  const settled = rowOf(rows, 'intent', 'decided');
  if (settled === null) fail('no row says that a commit began, or that it was decided to roll back');
  if (settled.kind === 'intent') {
    const { planHash: plan, stagingSha, fingerprint } = settled.body;
    assertSame(
      [plan, stagingSha, fingerprint],
      [receipt.planHash, receipt.stagingSha, receipt.fingerprint],
      `row ${settled.n}: the commit began on something else`,
    );
  } else if (receipt.action === 'COMMIT') fail('a commit has no row that says it began: no intent, no effect');
  else differs('reason', settled.body['reason']);

  const effect = rowOf(rows, 'effect');
  const closed = rowOf(rows, 'closed');
  if (effect === null || closed === null) fail('the rows effect and closed belong to a receipt, and one is missing');
  assertSame(
    [effect.body['state'], effect.body['effect']],
    [receipt.state, receipt.effect],
    `row ${effect.n}: another effect than the receipt's`,
  );
  assertSame(
    [closed.body['state'], closed.body['reason']],
    [receipt.state, receipt.reason],
    `row ${closed.n}: another end than the receipt's`,
  );
  return [`row ${settled.n} (${settled.kind}), effect, receipt and closed agree`, settled];
}
