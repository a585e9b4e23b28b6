import { inputSha as inputShaOf } from '../../policy/contracts/change-id';
import type { LedgerRow } from '../../policy/contracts/ledger';
import type { ReceiptPredicate } from '../../policy/contracts/outcome';
import { signedByOperator } from '../signed-by';
import { contradictionIn } from '../receipt-words';
import { assertSame, fail, fileOf, rowOf, signedByOne } from './checking';
import type { Passed, Review } from './record';
import type { OperatorKey } from '../operator-key';

/** The receipt must be signed by a trusted committer, be about this change, and be identical in its row. */
export function checkReceipt(review: Review): Passed {
  const file = fileOf(review);
  const row = rowOf(review.rows, 'receipt');
  if (file.receipt === null) {
    if (row !== null) fail(`row ${row.n} contains a receipt, but the file omits it`);
    fail('there is no receipt, so the outcome is unverified');
  }
  if (row === null) fail('no row contains the receipt');
  assertSame(file.receipt, row.body['envelope'], `the receipt differs from that of row ${row.n}`);
  const receipt = signedByOne('receipt', file.receipt, review.sources.trust?.committers ?? [], 'committer');
  assertSame(receipt, row.body['predicate'], `row ${row.n}: its predicate differs from its signed receipt`);
  const { state, reason, changeId } = receipt;
  if (changeId !== file.changeId) fail('the receipt is for another change');
  const contradiction = contradictionIn(receipt);
  if (contradiction !== null) fail(contradiction);
  return [
    `${state}${reason === null ? '' : ` (${reason})`} by committer ${receipt.keyId.slice(0, 16)} at ${receipt.at}, ${receipt.mode}`,
    { receipt },
  ];
}

/** The receipt must agree with rows, plan and submission, and with the row that settled the change. */
export function checkSettlement(review: Review): Passed {
  const { rows } = review;
  const receipt = review.need('receipt');
  assertReceiptIsOf(receipt, review);
  const settled = rowOf(rows, 'intent', 'decided');
  if (settled === null) fail('there is neither a row `intent` nor a row `decided`');
  if (settled.kind === 'intent') {
    const { planHash, stagingSha, fingerprint } = settled.body;
    assertSame(
      [planHash, stagingSha, fingerprint],
      [receipt.planHash, receipt.stagingSha, receipt.fingerprint],
      `row ${settled.n}: plan, dry run or fingerprint of the intent differ from the receipt`,
    );
  } else if (receipt.action === 'COMMIT') fail('the change was committed without a row `intent`');
  else if (settled.body['reason'] !== receipt.reason)
    fail(`reason: the receipt says ${receipt.reason}, but row ${settled.n} says ${String(settled.body['reason'])}`);

  const [effect, closed] = [rowOf(rows, 'effect'), rowOf(rows, 'closed')];
  if (effect === null || closed === null) fail('the row `effect` or `closed` is missing');
  assertSame(
    [effect.body['state'], effect.body['effect']],
    [receipt.state, receipt.effect],
    `row ${effect.n}: the effect differs from that in the receipt`,
  );
  assertSame(
    [closed.body['state'], closed.body['reason']],
    [receipt.state, receipt.reason],
    `row ${closed.n}: the outcome differs from that in the receipt`,
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
    const got = receipt[member as keyof ReceiptPredicate];
    if (got !== value) fail(`${member}: the receipt says ${String(got)}, but the rows give ${String(value)}`);
  }
}

export function checkEffect(review: Review): Passed {
  return [checkResolution(review.need('receipt'), review.rows, review.sources.trust?.operators ?? [])];
}

/**
 * If the receipt is based on an operator's statement, the rows must contain it: signed by a trusted operator, for this change
 * and target, with the same outcome.
 */
export function checkResolution(
  receipt: ReceiptPredicate,
  rows: readonly LedgerRow[],
  operators: readonly OperatorKey[],
): string {
  const { changeId, target, effect } = receipt;
  const claimed = effect?.['resolution'] as { readonly keyId?: unknown; readonly resolvedAt?: unknown } | undefined;
  if (claimed === undefined) return 'determined from the target';
  for (const row of rows) {
    if (row.kind !== 'resolved') continue;
    const resolution = signedByOperator('effect-resolution', row.body['envelope'], operators, row.at);
    if (resolution?.changeId !== changeId || resolution.target !== target) continue;
    const { applied, keyId, resolvedAt, reason } = resolution;
    if (applied !== (receipt.action === 'COMMIT')) fail(`row ${row.n}: the operator stated the opposite`);
    if (keyId !== claimed.keyId || resolvedAt !== claimed.resolvedAt)
      fail(`row ${row.n}: the receipt names the statement of another operator`);
    return `stated by operator ${keyId.slice(0, 16)} at ${resolvedAt}: ${reason}`;
  }
  return fail("the receipt is based on an operator's statement, but no row contains one of a trusted operator");
}
