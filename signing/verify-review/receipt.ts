import { inputSha as inputShaOf } from '../../policy/contracts/change-id';
import type { LedgerRow } from '../../policy/contracts/ledger';
import type { ReceiptPredicate } from '../../policy/contracts/outcome';
import { signedByOperator } from '../operator-verify';
import { assertSame, fail, fileOf, rowOf } from './outcome';
import type { Passed, Review } from './record';
import { signedByOne } from './signed-by';

/** A trusted committer signed it, over this change, and its row contains the same. */
export function checkReceipt(review: Review): Passed {
  const file = fileOf(review);
  const row = rowOf(review.rows, 'receipt');
  if (file.receipt === null) {
    if (row !== null) fail(`row ${row.n} contains a receipt, and the file leaves it out`);
    fail('no receipt: no committer says how this ended, so the outcome is unverified');
  }
  if (row === null) fail('no row contains the receipt');
  assertSame(file.receipt, row.body['envelope'], `it is not the one of row ${row.n}`);
  const receipt = signedByOne('receipt', file.receipt, review.sources.trust?.committers ?? [], 'committer');
  assertSame(receipt, row.body['predicate'], `row ${row.n} differs from the receipt that it contains`);
  const { action, state, reason, changeId } = receipt;
  if (changeId !== file.changeId) fail('it is of another change');
  if ((action === 'COMMIT') !== (state === 'COMMITTED') || (action === 'COMMIT') !== (reason === null))
    fail(`action ${action}, state ${state} and reason ${reason ?? 'none'} do not go together`);
  return [
    `${state}${reason === null ? '' : ` (${reason})`} by committer ${receipt.keyId.slice(0, 16)} at ${receipt.at}, ${receipt.mode}`,
    { receipt },
  ];
}

/** The receipt says of the change what rows, plan and submission say, and the row that settled it says the same end. */
export function checkSettlement(review: Review): Passed {
  const { rows } = review;
  const receipt = review.need('receipt');
  assertReceiptIsOf(receipt, review);
  const settled = rowOf(rows, 'intent', 'decided');
  if (settled === null) fail('no row says that a commit began, or that it was decided to roll back');
  if (settled.kind === 'intent') {
    const { planHash, stagingSha, fingerprint } = settled.body;
    assertSame(
      [planHash, stagingSha, fingerprint],
      [receipt.planHash, receipt.stagingSha, receipt.fingerprint],
      `row ${settled.n}: the commit began on something else`,
    );
  } else if (receipt.action === 'COMMIT') fail('a commit has no row that says it began: no intent, no effect');
  else if (settled.body['reason'] !== receipt.reason)
    fail(`reason: the receipt says ${receipt.reason}, and row ${settled.n} says ${String(settled.body['reason'])}`);

  const [effect, closed] = [rowOf(rows, 'effect'), rowOf(rows, 'closed')];
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
  return [`row ${settled.n} (${settled.kind}), effect, receipt and closed agree`];
}

function assertReceiptIsOf(receipt: ReceiptPredicate, review: Review): void {
  const { rows } = review;
  const submission = review.need('submission');
  const disclosed = rowOf(rows, 'disclosed');
  const expected: Partial<Record<keyof ReceiptPredicate, unknown>> = {
    planHash: review.need('pinned')?.planHash ?? null,
    fingerprint: disclosed?.body['fingerprint'] ?? null,
    mode: rowOf(rows, 'planned')?.body['mode'] ?? 'enforced',
    ...(disclosed === null ? {} : { stagingSha: disclosed.body['stagingSha'] ?? null }),
  };
  if (submission !== null) {
    const { tenant, target, sourceTool, diffSha } = submission;
    Object.assign(expected, { tenant, target, sourceTool, diffSha, inputSha: inputShaOf(submission) });
  }
  for (const [member, value] of Object.entries(expected)) {
    const said = receipt[member as keyof ReceiptPredicate];
    if (said !== value) fail(`${member}: the receipt says ${String(said)}, the rows give ${String(value)}`);
  }
}

export function checkEffect(review: Review): Passed {
  return [checkResolution(review.need('receipt'), review.rows, review.sources.trust?.operators ?? [])];
}

/**
 * If the receipt rests on an operator's statement, that statement is in the rows: signed by a trusted operator, of this change
 * and target, and of the same end.
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
      fail(`row ${row.n}: the receipt names the statement of another operator`);
    return `operator ${said.keyId.slice(0, 16)} said so at ${said.resolvedAt}: ${said.reason}`;
  }
  return fail('the receipt rests on an operator, and no row contains the statement of a trusted one');
}
