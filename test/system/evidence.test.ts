import { openDatabase } from '../../storage/database/database';
import { createCheckpointer } from '../../storage/ledger/checkpoint';
import { exportBundle, replayBundle } from '../../cli/evidence/bundles';
import { verifyLedgerRows } from '../../cli/evidence/verify-ledger';
import { parseEvidence, type EvidenceBundle } from '../../policy/evidence/bundle';
import { verifyEvidence, type EvidenceTrust } from '../../signing/verify-evidence';
import { isMet } from '../../signing/verify-review';
import type { Env } from '../../workers/config';
import { GIFT_POLICY } from '../support/shop-bundle';
import type { System } from '../support/system';
import { commandEnv } from '../support/system-env';
import { useJudgedShop } from './judge-words';
import { SCENARIOS, update, VAULT } from './scenarios';

const { system } = useJudgedShop('evidence', { policies: GIFT_POLICY });
let env: Env;
let trust: EvidenceTrust;
beforeAll(() => {
  trust = {
    operators: [system.setup.keys.operator.key.publicKey],
    committers: [system.setup.keys.committer.key.publicKey],
  };
  env = commandEnv(system);
});

const gift = (id: number, cents: number) => {
  const { metadata, ...change } = update(`update gifts set cents = ${cents} where id = ${id}`, 'gifts', 1);
  return { ...change, metadata: { ...metadata, cents } };
};
const ended = async (change: Parameters<System['submit']>[0]): Promise<string> => {
  const { changeId } = await system.submit(change);
  await system.ended(changeId);
  return changeId;
};
const ENDS: Readonly<Record<string, (system: System) => Promise<string>>> = {
  ...SCENARIOS,
  resolved_by_callback: () => ended(gift(1, 150)),
  refused_by_callback: () => ended(gift(2, 900)),
  no_handler: () => ended(VAULT),
};

async function checkpoint(): Promise<void> {
  const key = system.setup.keys.committer.key;
  await createCheckpointer({ db: system.resources.commit.db, key, now: () => new Date() }).checkpoint();
}

test.each(Object.keys(ENDS))(
  'the evidence of %s verifies offline, and replay recomputes its findings byte for byte [P6]',
  async (name) => {
    const changeId = (await ENDS[name]?.(system)) ?? '';
    await checkpoint();
    const logged: string[] = [];
    const text = await exportBundle(env, changeId, { bytes: true }, (line) => logged.push(line));
    expect(logged).toEqual([]);
    const report = verifyEvidence(text, trust);
    expect(report.checks.filter((check) => !isMet(check))).toEqual([]);
    expect(report).toMatchObject({ verdict: 'verified', witnessed: true, changeId });
    expect(bundleOf(text).history?.events).toBeGreaterThan(5);

    const replayed = await replayBundle(env, new TextEncoder().encode(text));
    expect(replayed).toMatchObject({ kind: 'replayed', report: { equal: true, differences: [] } });
    // The bytes come from the database.
    const without = await exportBundle(env, changeId, { bytes: false }, () => undefined);
    expect(await replayBundle(env, without)).toEqual(replayed);
    expect(await verifyLedgerRows(env, changeId, () => undefined)).toMatchObject({
      ok: true,
      changes: 1,
      uncovered: 0,
    });
  },
);

test('the evidence of a waiting review has no receipt and is unverified', async () => {
  const { changeId } = await system.submit(update('update accounts set balance = 0', 'accounts', 30));
  await system.waiting(changeId);
  const report = verifyEvidence(await exportBundle(env, changeId, { bytes: false }, () => undefined), trust);
  expect(report.verdict).toBe('unverified');
  expect(report.checks.filter(({ result }) => result === 'failed').map(({ name }) => name)).toEqual([
    'head',
    'receipt',
  ]);
});

test('the whole ledger verifies, and a row that the database owner changes is detected', async () => {
  await checkpoint();
  expect(await verifyLedgerRows(env, null, () => undefined)).toMatchObject({ ok: true, uncovered: 0, problemCount: 0 });
  const changeId = await ended(gift(3, 120));
  await checkpoint();
  const text = await exportBundle(env, changeId, { bytes: true }, () => undefined);
  await asOwner(`update ledger set actor = 'mallory' where change_id = '${changeId}' and kind = 'receipt'`);
  expect(await verifyLedgerRows(env, null, () => undefined)).toMatchObject({ ok: false });
  expect(await verifyLedgerRows(env, changeId, () => undefined)).toMatchObject({ ok: false });
  const changed = verifyEvidence(await exportBundle(env, changeId, { bytes: true }, () => undefined), trust);
  expect(changed.verdict).toBe('failed');
  expect(verifyEvidence(text, trust).verdict).toBe('verified');
});

test('the ledger of one change does not verify if its last row was deleted', async () => {
  const changeId = await ended(gift(4, 120));
  await checkpoint();
  await asOwner(`delete from ledger where change_id = '${changeId}' and kind = 'head'`);
  expect(await verifyLedgerRows(env, changeId, () => undefined)).toMatchObject({
    ok: false,
    problems: [expect.stringMatching(/^row \d+: the row has a leaf but is missing$/)],
  });
});

/** Runs SQL as the database owner, with the triggers disabled that reject every change of the ledger. */
async function asOwner(sql: string): Promise<void> {
  const url = new URL(system.setup.targetAdminUrls['shop'] ?? '');
  url.pathname = new URL(system.setup.databaseUrls.cs_gateway).pathname;
  const db = openDatabase({ url: url.href, applicationName: 'owner', max: 1 });
  try {
    await db.transaction(async (tx) => {
      await tx.query('set local session_replication_role = replica');
      await tx.query(sql);
    });
  } finally {
    await db.close();
  }
}

function bundleOf(text: string): EvidenceBundle {
  const read = parseEvidence(text);
  if (!read.ok) throw new Error(read.problem);
  return read.bundle;
}
