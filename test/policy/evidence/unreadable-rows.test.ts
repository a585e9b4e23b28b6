import { GENESIS, type LedgerRow } from '../../../policy/contracts/ledger';
import { writtenFindings } from '../../../policy/evidence/recorded-findings';
import { unreadableRows, unreadableRowText } from '../../../policy/evidence/unreadable-rows';
import { findingOf, JUDGE, planOf } from '../../support/plan';

const { phase, ...report } = findingOf(JUDGE, 'BLOCK');
const readable = { ...report, detectedAt: phase } as LedgerRow['body'];

const rowsOf = (kind: LedgerRow['kind'], bodies: readonly LedgerRow['body'][]): LedgerRow[] =>
  bodies.map((body, n) => ({ changeId: 'a'.repeat(64), n, prev: GENESIS, kind, at: '', actor: 'x', body }));

it('names a finding that cannot be read, and takes the first that can be', () => {
  const allowed = { ...readable, status: 'ALLOW' };
  const rows = rowsOf('findings', [{}, { status: 'ALLOW', validator_id: JUDGE.id }, readable, allowed]);
  expect(unreadableRows(rows).map(unreadableRowText)).toEqual([
    'row 0 (findings) is unreadable and does not count: not a valid finding',
    'row 1 (findings) is unreadable and does not count: not a valid finding',
  ]);
  expect(writtenFindings(planOf([JUDGE]), rows, null).get(JUDGE.id)).toMatchObject({ status: 'BLOCK' });
});

it('names no row of another kind', () => {
  expect(unreadableRows(rowsOf('refused', [{}, { check: 1 }]))).toEqual([]);
});
