import type { ValidatorFinding } from '../../../policy/contracts/finding';
import type { LedgerRow } from '../../../policy/contracts/ledger';
import type { Plan } from '../../../policy/contracts/plan';
import { disclosedFindings, writeDisclosed } from '../../../policy/evidence/disclosed-findings';

const HASH = 'a'.repeat(64);
const validator = (id: string): object => ({ id, phase: 'preflight', class: 'POLICY', logic_hash: HASH });
const plan = { validators: ['guardian.one', 'guardian.two', 'guardian.three'].map(validator) } as unknown as Plan;

function finding(id: string, more: Partial<ValidatorFinding> = {}): ValidatorFinding {
  return {
    validator_id: id,
    status: 'ALLOW',
    reason: '',
    evidenceRefs: [],
    phase: 'preflight',
    class: 'POLICY',
    logic_hash: HASH,
    ...more,
  };
}

function rowWith(findings: unknown): LedgerRow {
  const body = { findings } as LedgerRow['body'];
  return { changeId: HASH, n: 0, prev: HASH, kind: 'disclosed', at: '2026-01-01T00:00:00.000Z', actor: 'cs_review', body };
} // prettier-ignore

const blocked = finding('guardian.two', { status: 'BLOCK', reason: 'no WHERE', evidenceRefs: ['diff:x#L1'] });

it('writes an ALLOW without words as the id of its validator, and every other finding whole', () => {
  const findings = [finding('guardian.one'), blocked, finding('guardian.three', { reasonCode: 'waived' })];
  const written = writeDisclosed(plan, findings);
  expect(written).toEqual(['guardian.one', ...findings.slice(1)]);
  expect(disclosedFindings(plan, rowWith(written))).toEqual(findings);
});

it.each<[string, Partial<ValidatorFinding>]>([
  ['another logic hash', { logic_hash: 'b'.repeat(64) }],
  ['another class', { class: 'SAFETY' }],
  ['another phase', { phase: 'post' }],
  ['a reason', { reason: 'nothing found' }],
  ['evidence', { evidenceRefs: ['diff:x'] }],
  ['details', { details: {} }],
  ['another validator', { validator_id: 'guardian.four' }],
])('writes an ALLOW with %s whole', (_name, more) => {
  const findings = [finding('guardian.one', more)];
  expect(writeDisclosed(plan, findings)).toEqual(findings);
  expect(disclosedFindings(plan, rowWith(findings))).toEqual(findings);
});

it('keeps the order, and findings that are repeated or missing', () => {
  const findings = [finding('guardian.three'), blocked, finding('guardian.three')];
  expect(disclosedFindings(plan, rowWith(writeDisclosed(plan, findings)))).toEqual(findings);
});

it.each<[string, unknown]>([
  ['an id that the plan does not have', ['guardian.four']],
  ['a number', [1]],
  ['a finding with another member', [{ ...blocked, approved: true }]],
  ['an object instead of a list', {}],
  ['nothing', undefined],
])('reads no findings from a row with %s', (_name, written) =>
  expect(disclosedFindings(plan, rowWith(written))).toBeNull(),
);

it('reads a row with the plan that is given, also if it was read with another plan before', () => {
  const row = rowWith(['guardian.one', blocked]);
  const validators = plan.validators.map((each) => ({ ...each, logic_hash: 'b'.repeat(64) }));
  for (let i = 0; i < 2; i++) {
    expect(disclosedFindings(plan, row)).toEqual([finding('guardian.one'), blocked]);
    const [first] = disclosedFindings({ ...plan, validators }, row) ?? [];
    expect(first).toMatchObject({ logic_hash: 'b'.repeat(64) });
    expect(disclosedFindings({ ...plan, validators: validators.slice(1) }, row)).toBeNull();
  }
});

it('returns findings that no reader can change for the next one', () => {
  const read = disclosedFindings(plan, rowWith(['guardian.one', blocked])) ?? [];
  for (const each of read) expect(() => Object.assign(each, { status: 'WARN' })).toThrow(TypeError);
  expect(() => (read as ValidatorFinding[]).pop()).toThrow(TypeError);
  expect(() => Object.assign(read[1]?.evidenceRefs ?? [], ['diff:y'])).toThrow(TypeError);
  expect(disclosedFindings(plan, rowWith(['guardian.one']))).toEqual([finding('guardian.one')]);
});
