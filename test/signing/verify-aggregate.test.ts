import { attestedInputDigest, type AttestedPredicate } from '../../policy/contracts/attested';
import { GENESIS, ledgerHash, type LedgerRow } from '../../policy/contracts/ledger';
import { givenToAggregate } from '../../policy/evidence/attested-given';
import { evidenceText, type EvidenceBundle } from '../../policy/evidence/bundle';
import { openEnvelope } from '../../policy/evidence/dsse';
import type { AggregateRecord } from '../../policy/rules/aggregate/aggregate';
import { signPredicate } from '../../signing/envelope';
import { verifyEvidence, type EvidenceReport } from '../../signing/verify-evidence';
import { isMet } from '../../signing/verify-review';
import { evidenceWorld, WORLD_BUNDLE, type World } from '../support/evidence-world';
import { seededKey } from '../support/seeded-key';

const LIMITED = WORLD_BUNDLE.replace(
  '  - judge:',
  '  - aggregate: { name: many_rows, window: 1d, limits: { rows: 2 } }\n  - judge:',
);
const YES = [{ by: 'alice', decision: 'confirm' }] as const;

/** Three changes of one row each: the third passes the limit, and a person confirms it. */
async function third(bundleText = LIMITED): Promise<{ readonly world: World; readonly bundle: EvidenceBundle }> {
  const world = evidenceWorld({ bundleText });
  for (const requestKey of ['a', 'b']) await world.review({ table: 'public.items', requestKey });
  const { changeId } = await world.review({ table: 'public.items', requestKey: 'c', answers: YES });
  return { world, bundle: await world.export(changeId) };
}

function verify({ sha256: _sha, ...bundle }: EvidenceBundle, world: World): EvidenceReport {
  return verifyEvidence(evidenceText(bundle), world.trust);
}

/** The record of the sum changed and signed again by the attestor's own key, and the chain made anew. */
function resigned(bundle: EvidenceBundle, change: (p: AttestedPredicate) => AttestedPredicate): EvidenceBundle {
  let prev = GENESIS;
  const rows = structuredClone(bundle.rows).map(({ row }, n) => {
    const linked: LedgerRow = { ...row, n, prev, body: sumIn(row, change) ?? row.body };
    prev = ledgerHash(linked);
    return { row: linked, hash: prev };
  });
  return { ...structuredClone(bundle), rows, head: { rows: rows.length, hash: prev }, inclusion: null };
}

function sumIn(row: LedgerRow, change: (p: AttestedPredicate) => AttestedPredicate): LedgerRow['body'] | null {
  const opened = row.kind === 'attested' ? openEnvelope('attested', row.body['envelope']) : null;
  if (opened?.ok !== true || opened.statement.predicate.kind !== 'aggregate') return null;
  const predicate = change(opened.statement.predicate);
  return { envelope: signPredicate('attested', predicate, seededKey('attestor')) as never };
}

/** With the digest of what it now says, so that only what it says is wrong. */
function counting(p: AttestedPredicate, more: Partial<AggregateRecord>): AttestedPredicate {
  const record = { ...(p.record as unknown as AggregateRecord), ...more };
  const given = givenToAggregate({ changeId: p.changeId, inputSha: p.inputSha, record });
  return { ...p, record: record as never, inputDigest: attestedInputDigest('aggregate', given) };
}

const detail = (report: EvidenceReport, check: string): string | undefined =>
  report.checks.find(({ name, result }) => name === check && result === 'failed')?.detail;

test('a change that a person confirmed past a limit over many changes verifies offline, with the others named', async () => {
  const { world, bundle } = await third();
  const report = verify(bundle, world);
  expect(report.checks.filter((check) => !isMet(check))).toEqual([]);
  expect(report).toMatchObject({ verdict: 'verified', outcome: { state: 'COMMITTED' } });
  const finding = bundle.findings.find((f) => f.validator_id === 'guardian.many_rows');
  expect(finding).toMatchObject({ status: 'BLOCK', details: { sums: { rows: 3 } } });
  expect(finding?.evidenceRefs).toHaveLength(2);
});

test('a limit that forbids rolls back with nobody asked and nothing staged, and that verifies offline too', async () => {
  const { world, bundle } = await third(LIMITED.replace('name: many_rows,', 'name: many_rows, level: forbid,'));
  const report = verify(bundle, world);
  expect(report.checks.filter((check) => !isMet(check))).toEqual([]);
  expect(report).toMatchObject({ verdict: 'verified', outcome: { state: 'ROLLED_BACK', reason: 'forbidden' } });
  expect(bundle.rows.map(({ row }) => row.kind)).not.toContain('staged');
  expect(bundle.findings.find((f) => f.validator_id === 'safety.many_rows')).toMatchObject({ status: 'BLOCK' });
});

test('the same record signed again still verifies, so that what fails below is what it says', async () => {
  const { world, bundle } = await third();
  expect(
    detail(
      verify(
        resigned(bundle, (p) => p),
        world,
      ),
      'attested',
    ),
  ).toBeUndefined();
});

test.each<[string, (p: AttestedPredicate) => AttestedPredicate, RegExp]>([
  [
    'a record with a change fewer than its digest is of',
    (p) => ({ ...p, record: { ...p.record, counted: [] } }),
    /result is not what the changes that it counts come to/,
  ],
  [
    'a record that counts fewer changes than its result says',
    (p) => counting(p, { counted: [] }),
    /result is not what/,
  ],
  ['a record of another agent', (p) => counting(p, { requester: 'eve' }), /about another change than was opened/],
  ['a record of another time', (p) => counting(p, { openedAt: '2026-01-01T00:00:00Z' }), /about another change/],
  [
    'a record in which the change itself is lighter',
    (p) => counting(p, { own: { ...(p.record as unknown as AggregateRecord).own, rows: 0 } }),
    /about another change/,
  ],
  ['a digest of another input', (p) => ({ ...p, inputDigest: 'a'.repeat(64) }), /made of another input/],
  ['a record without a sum', (p) => ({ ...p, record: {} }), /cannot be read/],
])('fails: %s, though the attestor signed it', async (_name, change, message) => {
  const { world, bundle } = await third();
  expect(detail(verify(resigned(bundle, change), world), 'attested')).toMatch(message);
});
