import { AFTER_HEAD } from '../../policy/contracts/ledger';
import { unboundWord } from '../receipt-words';
import { assertSame, fail, fileOf, rowOf, signedByOne } from './checking';
import type { Passed, Review } from './record';

/** Explanation, findings and violations that are printed with the receipt must be those that its committer signed. */
export function checkBoundWords(review: Review): Passed {
  const receipt = review.need('receipt');
  const row = rowOf(review.rows, 'receipt') ?? fail('no row contains the receipt');
  const findings = review.need('findings');
  const { violations } = review.need('disclosure');
  const { explanation } = row.body;
  // The findings of a rollback without their digest were verified by rows and records, but the receipt does not have them.
  const words = { explanation, findings: receipt.findingsSha === null ? [] : findings, violations };
  const other = unboundWord(receipt, words);
  if (other !== null) fail(`row ${row.n}: the receipt was signed for other ${other}`);
  assertSame(
    rowOf(review.rows, 'effect')?.body['explanation'],
    explanation,
    `row ${row.n}: its explanation differs from that of the row of the effect`,
  );
  if (rowOf(review.rows, 'disclosed') === null)
    assertSame(row.body['findings'], words.findings, `row ${row.n}: its findings are not those in the receipt`);
  if (row.prev !== receipt.headSha) fail(`row ${row.n}: the receipt was signed for other rows than those before it`);
  return [`explanation, ${findings.length} findings, ${violations.length} violations and the rows up to ${row.n - 1}`];
}

/**
 * The rows must reach the head that a trusted committer signed when it closed the change. What follows it decides nothing: such rows
 * are only those of AFTER_HEAD, and nothing proves that all of them are in the file.
 */
export function checkHead(review: Review): Passed {
  const { record, rows, sources } = review;
  fileOf(review);
  const row = rowOf(rows, 'head');
  const open = rowOf(rows, 'receipt') === null ? 'the review had not ended, or ' : '';
  if (row === null) return fail(`the file has no signed head of the change: ${open}rows at its end are missing`);
  const head = signedByOne('change-head', row.body['envelope'], sources.trust?.committers ?? [], 'committer');
  if (head.changeId !== record.changeId) fail(`row ${row.n}: the head is of change ${head.changeId}`);
  const last = rows[row.n - 1];
  if (head.rows !== row.n || last?.kind !== 'closed' || head.hash !== row.prev)
    fail(
      `row ${row.n}: the head is of ${head.rows} rows that end with ${head.hash.slice(0, 16)}, not of the rows before it`,
    );
  const later = rows.slice(row.n + 1);
  const other = later.find(({ kind }) => !AFTER_HEAD.has(kind));
  if (other !== undefined) fail(`row ${other.n}: a row ${other.kind} follows the head`);
  const after = `${later.length} later rows are present; further later rows are not proved to be absent`;
  return [`${head.rows} rows until the change was closed at ${head.at}, none is missing; ${after}`];
}
