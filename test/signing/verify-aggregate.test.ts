import { attestedInputDigest, type AttestedPredicate } from '../../policy/contracts/attested';
import type { LedgerRow } from '../../policy/contracts/ledger';
import { givenToAggregate } from '../../policy/evidence/attested-given';
import { evidenceText, type EvidenceBundle } from '../../policy/evidence/bundle';
import { openEnvelope } from '../../policy/evidence/dsse';
import type { AggregateRecord } from '../../policy/rules/aggregate/aggregate';
import { signPredicate } from '../../signing/envelope';
import { verifyEvidence, type EvidenceReport } from '../../signing/verify-evidence';
import { isMet } from '../../signing/verify-review';
import { evidenceWorld, WORLD_BUNDLE, type World } from '../support/review/evidence-world';
import { rewritten } from '../support/review/ledger-rows';
import { seededKey } from '../support/seeded-key';

const LIMITED = WORLD_BUNDLE.replace(
  '  - judge:',
  '  - aggregate: { name: many_rows, window: 1d, limits: { rows: 2 } }\n  - judge:',
);
const YES = [{ by: 'alice', decision: 'confirm' }] as const;

/** Three changes of one row each: the third exceeds the limit, and a person confirms it. */
async function third(bundleText = LIMITED): Promise<{ readonly world: World; readonly bundle: EvidenceBundle }> {
  const world = evidenceWorld({ bundleText });
  for (const requestKey of ['a', 'b']) await world.review({ table: 'public.items', requestKey });
  const { changeId } = await world.review({ table: 'public.items', requestKey: 'c', answers: YES });
  return { world, bundle: await world.export(changeId) };
}

function verify({ sha256: _sha, ...bundle }: EvidenceBundle, world: World): EvidenceReport {
  return verifyEvidence(evidenceText(bundle), world.trust);
}

/** Changes the record of the sum, signs it again with the attestor's key, and recomputes the chain. */
function resigned(bundle: EvidenceBundle, change: (p: AttestedPredicate) => AttestedPredicate): EvidenceBundle {
  return rewritten(bundle, (rows) => rows.map((row) => ({ ...row, body: sumIn(row, change) ?? row.body })));
}

function sumIn(row: LedgerRow, change: (p: AttestedPredicate) => AttestedPredicate): LedgerRow['body'] | null {
  const opened = row.kind === 'attested' ? openEnvelope('attested', row.body['envelope']) : null;
  if (opened?.ok !== true || opened.statement.predicate.kind !== 'aggregate') return null;
  const predicate = change(opened.statement.predicate);
  return { envelope: signPredicate('attested', predicate, seededKey('attestor')) as never };
}

/** With a recomputed digest, so that only the content is wrong. */
function counting(p: AttestedPredicate, more: Partial<AggregateRecord>): AttestedPredicate {
  const record = { ...(p.record as unknown as AggregateRecord), ...more };
  const given = givenToAggregate({ changeId: p.changeId, inputSha: p.inputSha, record });
  return { ...p, record: record as never, inputDigest: attestedInputDigest('aggregate', given) };
}

const detail = (report: EvidenceReport, check: string): string | undefined =>
  report.checks.find(({ name, result }) => name === check && result === 'failed')?.detail;

test('a confirmed change above a limit over many changes verifies offline, and names the other changes', async () => {
  const { world, bundle } = await third();
  const report = verify(bundle, world);
  expect(report.checks.filter((check) => !isMet(check))).toEqual([]);
  expect(report).toMatchObject({ verdict: 'verified', outcome: { state: 'COMMITTED' } });
  const finding = bundle.findings.find((f) => f.validator_id === 'guardian.many_rows');
  expect(finding).toMatchObject({ status: 'BLOCK', details: { sums: { rows: 3 } } });
  expect(finding?.evidenceRefs).toHaveLength(2);
});

test('a change that a limit forbids rolls back without a question or a dry run, and verifies offline', async () => {
  const { world, bundle } = await third(LIMITED.replace('name: many_rows,', 'name: many_rows, level: forbid,'));
  const report = verify(bundle, world);
  expect(report.checks.filter((check) => !isMet(check))).toEqual([]);
  expect(report).toMatchObject({ verdict: 'verified', outcome: { state: 'ROLLED_BACK', reason: 'forbidden' } });
  expect(bundle.rows.map(({ row }) => row.kind)).not.toContain('staged');
  expect(bundle.findings.find((f) => f.validator_id === 'safety.many_rows')).toMatchObject({ status: 'BLOCK' });
});

test('the same record signed again verifies, so the failures below are caused by its content', async () => {
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
    'a record that omits a change but keeps its digest',
    (p) => ({ ...p, record: { ...p.record, counted: [] } }),
    /result does not follow from the changes that it counts/,
  ],
  [
    'a record that counts fewer changes than its result',
    (p) => counting(p, { counted: [] }),
    /does not follow from the changes/,
  ],
  ['a digest of another input', (p) => ({ ...p, inputDigest: 'a'.repeat(64) }), /made from another input/],
  ['a record without a sum', (p) => ({ ...p, record: {} }), /cannot be read/],
])('fails: %s, even if the attestor signed it', async (_name, change, message) => {
  const { world, bundle } = await third();
  expect(detail(verify(resigned(bundle, change), world), 'attested')).toMatch(message);
});
