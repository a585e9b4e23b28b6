import { GENESIS, type LedgerRow } from '../../../policy/contracts/ledger';
import { writtenFindings } from '../../../policy/evidence/recorded-findings';
import { findingsOfRow, unreadableRows, unreadableRowText } from '../../../policy/evidence/unreadable-rows';
import { findingOf, JUDGE, planOf } from '../../support/plan';

const { phase, ...report } = findingOf(JUDGE, 'BLOCK');
const readable = { ...report, detectedAt: phase } as LedgerRow['body'];

const rowsOf = (kind: LedgerRow['kind'], bodies: readonly LedgerRow['body'][]): LedgerRow[] =>
  bodies.map((body, n) => ({ changeId: 'a'.repeat(64), n, prev: GENESIS, kind, at: '', actor: 'x', body }));

it.each<[string, LedgerRow['body']]>([
  ['without findings', {}],
  ['with a text instead of findings', { findings: 'none' }],
  ['with a finding beside a member of findings', { ...readable }],
  ['with a finding that lacks members', { findings: [{ status: 'ALLOW', validator_id: JUDGE.id }] }],
  ['with null as a finding', { findings: [null] }],
  ['with a list as a finding', { findings: [[readable]] }],
  ['with one finding of two that cannot be read', { findings: [{ ...readable, status: 'ALLOW' }, {}] }],
])('a row %s is named and does not count', (_name, body) => {
  const rows = rowsOf('findings', [body]);
  expect(unreadableRows(rows).map(unreadableRowText)).toEqual([
    'row 0 (findings) is unreadable and does not count: not a list of valid findings',
  ]);
  expect([...writtenFindings(planOf([JUDGE]), rows, null)]).toEqual([]);
});

it('the first finding of a validator counts, in one row or in several', () => {
  const allowed = { ...readable, status: 'ALLOW' };
  const written = (bodies: readonly LedgerRow['body'][]) =>
    writtenFindings(planOf([JUDGE]), rowsOf('findings', bodies), null).get(JUDGE.id);
  expect(written([{}, { findings: [readable, allowed] }])).toMatchObject({ status: 'BLOCK' });
  expect(written([{ findings: [] }, { findings: [readable] }, { findings: [allowed] }])).toMatchObject({
    status: 'BLOCK',
  });
});

it('does not name a row of another kind', () => {
  expect(unreadableRows(rowsOf('refused', [{}, { check: 1 }]))).toEqual([]);
});

it('returns findings that no reader can change for the next one, of each row its own', () => {
  const [blocks, allows] = rowsOf('findings', [
    { findings: [readable] },
    { findings: [{ ...readable, status: 'ALLOW' }] },
  ]);
  if (blocks === undefined || allows === undefined) throw new Error('no rows');
  for (let i = 0; i < 2; i++) {
    const [finding] = findingsOfRow(blocks) ?? [];
    expect(finding).toEqual({ ...report, phase });
    expect(() => Object.assign(finding ?? {}, { status: 'ALLOW' })).toThrow(TypeError);
    expect(() => (findingsOfRow(blocks) as unknown[]).pop()).toThrow(TypeError);
    expect(findingsOfRow(allows)).toMatchObject([{ status: 'ALLOW' }]);
  }
});
