import { explanationSha, violationsSha } from '../../policy/contracts/outcome';
import { AFTER_HEAD } from '../../policy/contracts/ledger';
import { findingsSha } from '../../policy/decide/findings';
import { assertSame, fail, fileOf, rowOf } from './outcome';
import type { Passed, Review } from './record';
import { signedByOne } from './signed-by';

/** Every word that is printed beside the receipt must be the one that its committer signed. */
export function checkBoundWords(review: Review): Passed {
  const receipt = review.need('receipt');
  const row = rowOf(review.rows, 'receipt') ?? fail('no row contains the receipt');
  const { findings, violations } = {
    findings: review.need('findings'),
    violations: review.need('disclosure').violations,
  };
  const explanation = row.body['explanation'];
  if (typeof explanation !== 'string' || explanationSha(explanation) !== receipt.explanationSha)
    fail(`row ${row.n}: the explanation is not the one in the receipt`);
  assertSame(
    rowOf(review.rows, 'effect')?.body['explanation'],
    explanation,
    `row ${row.n}: its explanation differs from that of the row of the effect`,
  );
  if (receipt.findingsSha === null ? receipt.action === 'COMMIT' : findingsSha(findings) !== receipt.findingsSha)
    fail('the findings are not those in the receipt');
  if (violationsSha(violations) !== receipt.violationsSha) fail('the violations are not those in the receipt');
  if (rowOf(review.rows, 'disclosed') === null)
    assertSame(
      row.body['findings'],
      receipt.findingsSha === null ? [] : findings,
      `row ${row.n}: its findings are not those in the receipt`,
    );
  if (row.prev !== receipt.headSha) fail(`row ${row.n}: the receipt was signed for other rows than those before it`);
  return [`explanation, ${findings.length} findings, ${violations.length} violations and the rows up to ${row.n - 1}`];
}

/**
 * The rows must reach the head that a trusted committer signed when it closed the change. What follows it decides nothing: such rows
 * are only refused messages and the use of a cooperative receipt, and nothing proves that all of them are in the file.
 */
export function checkHead(review: Review): Passed {
  const { record, rows, sources } = review;
  fileOf(review);
  const row = rowOf(rows, 'head');
  if (row === null) return fail('the file does not reach the signed head of the change: rows at its end are missing');
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
