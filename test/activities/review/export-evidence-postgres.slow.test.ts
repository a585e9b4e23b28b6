import { stagingRecords } from '../../../activities/committer/staging-records';
import { stagingSha } from '../../../policy/contracts/staging-record';
import { exportEvidence } from '../../../activities/review/export-evidence';
import { keyEnvelopes } from '../../../storage/keys/key-envelopes';
import { createCheckpointer } from '../../../storage/ledger/checkpoint';
import { inclusionReader } from '../../../storage/ledger/inclusion';
import { createLedger } from '../../../storage/ledger/ledger';
import { verifyLedger } from '../../../storage/ledger/verify-ledger';
import { evidenceText } from '../../../policy/evidence/bundle';
import { verifyEvidence } from '../../../signing/verify-evidence';
import { evidenceWorld } from '../../support/review/evidence-world';
import { lookup, testKey } from '../../support/keys';
import { startTestPostgres, type TestDatabase, type TestPostgres } from '../../support/postgres';

let postgres: TestPostgres;
let database: TestDatabase;
beforeAll(async () => {
  postgres = await startTestPostgres();
  database = await postgres.database();
}, 60_000);
afterAll(() => postgres.stop());

it("exports verifiable evidence from PostgreSQL with the gateway's database role, which cannot change it, witnessed once a checkpoint covers it", async () => {
  const world = evidenceWorld();
  const committer = world.keys.committer;
  const ids: string[] = [];
  for (const requestKey of ['a', 'b', 'c']) {
    const answers = [
      { by: 'alice', decision: 'confirm' as const },
      { by: 'bob', decision: 'confirm' as const },
    ];
    ids.push((await world.review({ table: 'public.prices', requestKey, answers })).changeId);
  }
  // The same rows, chained by the function in PostgreSQL.
  const ledger = createLedger(database.open('admin'));
  for (const [i, { row, hash }] of world.ledger.all.entries()) {
    const [done] = await ledger.append(row.changeId, [{ ...row, factKey: `${i}` }]);
    expect(done?.stored?.hash).toBe(hash);
  }
  const gateway = database.open('cs_gateway');
  for (const id of ids) {
    const { staging, preview } = await world.export(id);
    await stagingRecords(database.open('cs_commit'), null).put(id, stagingSha(staging!), staging!, preview!);
  }
  const edit = gateway.query(`update staging_records set preview = '{}'`);
  await expect(edit).rejects.toThrow('permission denied');
  const sources = {
    ...world.sources,
    previews: stagingRecords(gateway, null),
    ledger: createLedger(gateway),
    inclusion: inclusionReader(gateway),
  };
  const verified = async (id: string) =>
    verifyEvidence(evidenceText(await exportEvidence(sources, id, { bytes: true })), world.trust);
  const first = await verified(ids[1]!);
  expect(first).toMatchObject({ verdict: 'verified', witnessed: false });
  expect(first.checks.find(({ name }) => name === 'preview')?.result).toBe('ok');

  const { checkpoint } = createCheckpointer({
    db: database.open('cs_commit'),
    key: committer,
    now: () => new Date(),
    maxRows: 20,
  });
  for (let more = true; more;) more = (await checkpoint())?.rows === 20;
  for (const id of ids) expect(await verified(id)).toMatchObject({ verdict: 'verified', witnessed: true });

  await ledger.append(ids[0]!, [{ kind: 'refused', at: '2026-03-01T10:00:00.000Z', factKey: 'late', body: {} }]);
  expect(await verified(ids[0]!)).toMatchObject({ verdict: 'verified', witnessed: false });
  expect(await verified(ids[1]!)).toMatchObject({ witnessed: true });

  const steps: number[] = [];
  const keys = lookup({
    entry: { ...testKey('committer', 'c').entry, keyId: committer.keyId, publicKey: committer.publicKey },
  });
  const report = await verifyLedger(gateway, { keys, development: false, progress: (rows) => steps.push(rows) });
  expect(report).toMatchObject({ ok: true, rows: world.ledger.all.length + 1, uncovered: 1 });
  expect(steps.at(-1)).toBe(report.rows);
}, 60_000);

it('reads the signed entries of keys unchanged, and omits unknown ids', async () => {
  const operator = database.open('cs_operator');
  const [entry, revocation] = [{ e: 1 }, { r: 1 }];
  await operator.query('insert into keys (key_id, envelope) values ($1, $2), ($3, $2)', [
    'a',
    JSON.stringify(entry),
    'b',
  ]);
  await operator.query('insert into key_revocations (key_id, envelope) values ($1, $2)', [
    'b',
    JSON.stringify(revocation),
  ]);
  const read = await keyEnvelopes(database.open('cs_gateway'), []).envelopesOf(['b', 'a', 'c']);
  expect([...read].sort((x, y) => (x.keyId < y.keyId ? -1 : 1))).toEqual([
    { keyId: 'a', registration: { entry, revocation: null } },
    { keyId: 'b', registration: { entry, revocation } },
  ]);
});
