import { existsSync } from 'node:fs';
import { invite } from '../../cli/init/enrollment-links';
import { serviceKeys } from '../../cli/init/keys';
import { registerAll, type Registration } from '../../cli/init/registrations';
import type { InitRequest } from '../../cli/init/request';
import { recordEffect, freezeTarget } from '../../cli/operator/records';
import { listBreakers, resetBreakers } from '../../cli/breaker/breakers';
import { createKey, enrollPerson, registerKey, revokeKey } from '../../cli/keys/registry';
import { publish as publishPolicy, revoke } from '../../cli/policy/publish';
import { recordResolution } from '../../activities/committer/effect-resolution';
import { openedClient } from '../../dev/query';
import type { JsonObject } from '../../policy/contracts/canonical-json';
import { openEnvelope } from '../../policy/evidence/dsse';
import type { StatementKind } from '../../policy/evidence/statement';
import { loadKey } from '../../cli/key-files';
import { writeKeyFile } from '../../signing/key-file';
import { newKeyPair } from '../../signing/keys';
import type { OperatorKey } from '../../signing/operator-key';
import { fullGrant } from '../../signing/registry-entry';
import { starterBundle } from '../../source-tools/starter-bundle';
import { createLedger } from '../../storage/ledger/ledger';
import { publishBundle } from '../../storage/plans/publish';
import { eventually } from '../support/eventually';
import { startTestPostgres, type TestDatabase, type TestPostgres } from '../support/postgres';
import { demoBundle } from '../support/review/demo-rules';
import { ReviewWorld } from '../support/review/review-world';
import { loadExtensions } from '../../workers/extensions';
import { temporaryFolder } from './run-command';

// The review is not notified: there is no Temporal server.
jest.mock('../../cli/temporal', () => ({ withTemporal: () => Promise.reject(new Error('no server')) }));

const HOUR = 3_600_000;
const folder = temporaryFolder();
const operator = newKeyPair();
const operatorKey = folder.path('operator');
const holder = { kind: 'approver', subject: { type: 'person', id: 'bob' }, onBehalfOf: null } as const;
const bob = { ...holder, ...fullGrant('approver', ['acme']) };

let postgres: TestPostgres;
let database: TestDatabase;
beforeAll(async () => {
  postgres = await startTestPostgres();
  const label = { kind: 'operator', subject: { type: 'person', id: 'olga' }, onBehalfOf: null, demo: false } as const;
  writeKeyFile({ path: operatorKey, key: operator, label, createdAt: '2026-01-01T00:00:00.000Z' });
}, 60_000);
beforeEach(async () => {
  database = await postgres.database();
});
afterEach(() => jest.useRealTimers());
afterAll(() => postgres.stop());

/** Sets the clock of this machine, and no timer. */
function clockOff(hours: number): void {
  const doNotFake = [
    ...(['hrtime', 'performance', 'nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
    ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
  ];
  jest.useFakeTimers({ now: Date.now() + hours * HOUR, doNotFake });
}

const env = (...more: readonly OperatorKey[]): Record<string, string> => ({
  COUNTERSIGN_STATE_DIR: folder.path('none'),
  COUNTERSIGN_DATABASE_URL: database.url('cs_operator'),
  COUNTERSIGN_TRUST_FILE: folder.write('trust.json', JSON.stringify({ operators: [operator.publicKey, ...more] })),
});

/** The newest statement in this table. */
async function statement(kind: StatementKind, table: string): Promise<Record<string, unknown>> {
  const { rows } = await database.open('admin').query<{ envelope: unknown }>(`select envelope from ${table}`);
  const opened = openEnvelope(kind, rows.at(-1)?.envelope);
  if (!opened.ok) throw new Error(opened.message);
  return opened.statement.predicate;
}

/** Publishes the demo bundle. */
const publishing = (key: string) => ({ bundleText: starterBundle('SQLDryRun'), key, now: new Date() });

async function publish({ plan, planHash }: ReviewWorld): Promise<void> {
  const { target, sourceTool } = plan;
  const plans = [{ target, sourceTool, planHash, plan }];
  const db = database.open('cs_operator');
  await publishBundle(db, { bundleText: demoBundle({}), plans, operator });
}

/** A change whose commit has begun. */
async function begun({ submission, changeId }: ReviewWorld): Promise<string> {
  const at = new Date().toISOString();
  await createLedger(database.open('admin')).append(changeId, [
    { kind: 'submitted', at, factKey: 'submitted', body: { submission: submission as unknown as JsonObject } },
    { kind: 'intent', at, factKey: 'settlement', body: {} },
  ]);
  return changeId;
}

/** What `init` registers and publishes. */
async function registration(): Promise<Registration> {
  const request = { dir: folder.path(`init-${database.name}`), tenant: 'acme', agents: [] } as unknown as InitRequest;
  return {
    request,
    operatorUrl: database.url('cs_operator'),
    operator: loadKey({}, operatorKey),
    trustedOperators: [loadKey({}, operatorKey).publicKey],
    keys: serviceKeys(request),
    people: new Map(),
    policyText: starterBundle('SQLDryRun', { targets: ['shop'], members: ['bob'], development: false }),
    extensions: await loadExtensions(''),
  };
}

const COMMANDS: Record<string, (world: ReviewWorld) => Promise<unknown>> = {
  async 'keys new'() {
    await createKey(env(), bob, folder.path(`bob-${database.name}`), operatorKey);
    return (await statement('key', 'keys'))['addedAt'];
  },
  async 'keys register'() {
    await registerKey(env(), bob, newKeyPair().publicKey, operatorKey);
    return (await statement('key', 'keys'))['addedAt'];
  },
  async 'keys enroll'() {
    const request = { person: 'bob', tenants: ['acme'], publicUrl: 'https://cs.example', validMs: HOUR };
    await enrollPerson(env(), request, operatorKey);
    return (await statement('enrollment', 'enrollments'))['issuedAt'];
  },
  async 'keys revoke'() {
    const keyId = await registerKey(env(), bob, newKeyPair().publicKey, operatorKey);
    await revokeKey(env(), keyId, 'left', operatorKey);
    return (await statement('key-revocation', 'key_revocations'))['revokedAt'];
  },
  async 'init, for a key'() {
    await registerAll(await registration());
    return (await statement('key', 'keys'))['addedAt'];
  },
  async 'init, for the policy'() {
    await registerAll(await registration());
    return (await statement('policy-revision', 'policy_revisions'))['issuedAt'];
  },
  async 'init, for a link'() {
    const { operatorUrl, operator: key, trustedOperators } = await registration();
    const of = { operatorUrl, operator: key, trustedOperators };
    await invite({ ...of, persons: ['bob'], tenant: 'acme', publicUrl: 'https://cs.example' });
    return (await statement('enrollment', 'enrollments'))['issuedAt'];
  },
  async 'policy publish'() {
    await publishPolicy(env(), null, publishing(operatorKey));
    return (await statement('policy-revision', 'policy_revisions'))['issuedAt'];
  },
  async 'policy revoke'(world) {
    await publish(world);
    await revoke(env(), { revision: 1, reason: 'wrong' }, operatorKey);
    return (await statement('policy-revocation', 'policy_revocations'))['revokedAt'];
  },
  async 'target freeze'(world) {
    await publish(world);
    await freezeTarget(env(), { target: world.plan.target, frozen: true, reason: 'incident', operatorKey });
    return (await statement('target-freeze', 'target_freezes'))['at'];
  },
  async resolve(world) {
    await recordEffect(env(), { changeId: await begun(world), applied: false, reason: 'looked', operatorKey });
    const rows = await createLedger(database.open('admin')).readKinds(world.changeId, ['resolved']);
    const opened = openEnvelope('effect-resolution', rows[0]?.row.body['envelope']);
    return opened.ok ? opened.statement.predicate.resolvedAt : opened.message;
  },
  async 'breaker reset'() {
    await resetBreakers(env(), { tenant: 'acme', sourceTool: 'S', validatorId: null, reason: 'fixed', operatorKey });
    const { rows } = await database
      .open('admin')
      .query<{ at: Date }>(`select at from breaker_rows where kind = 'reset'`);
    return rows[0]?.at.toISOString();
  },
};

describe.each(Object.entries(COMMANDS))('`%s`', (_command, run) => {
  test.each([-3, 3])(
    'dates its statement by the clock of the database, if that of this machine is %i hours off',
    async (hours) => {
      const world = new ReviewWorld();
      const before = Date.now();
      clockOff(hours);
      const at = Date.parse(String(await run(world)));
      jest.useRealTimers();
      expect(at).toBeGreaterThanOrEqual(before - 1000);
      expect(at).toBeLessThanOrEqual(Date.now() + 1000);
    },
  );
});

describe('a key that an operator cannot sign with', () => {
  const [strangerKey, endedKey] = [folder.path('stranger'), folder.path('ended')];
  const ended = newKeyPair();
  const until = '2026-01-31T18:00:00Z';
  beforeAll(() => {
    const label = { kind: 'operator', subject: { type: 'person', id: 'eve' }, onBehalfOf: null, demo: false } as const;
    const createdAt = '2026-01-01T00:00:00.000Z';
    writeKeyFile({ path: strangerKey, key: newKeyPair(), label, createdAt });
    writeKeyFile({ path: endedKey, key: ended, label, createdAt });
  });
  const trusting = () => {
    const operators = [operator.publicKey, { publicKey: ended.publicKey, until }];
    return { ...env(), COUNTERSIGN_TRUST_FILE: folder.write('trust-ended.json', JSON.stringify({ operators })) };
  };

  const newKey = folder.path('not-written');
  const SIGNS: Record<string, (world: ReviewWorld, key: string) => Promise<unknown>> = {
    'keys new': (_world, key) => createKey(trusting(), bob, newKey, key),
    'keys register': (_world, key) => registerKey(trusting(), bob, newKeyPair().publicKey, key),
    'keys enroll': (_world, key) =>
      enrollPerson(
        trusting(),
        { person: 'bob', tenants: ['acme'], publicUrl: 'https://cs.example', validMs: HOUR },
        key,
      ),
    'keys revoke': (_world, key) => revokeKey(trusting(), operator.keyId, 'left', key),
    'policy publish': (_world, key) => publishPolicy(trusting(), null, publishing(key)),
    'policy revoke': (_world, key) => revoke(trusting(), { revision: 1, reason: 'wrong' }, key),
    'target freeze': ({ plan: { target } }, key) =>
      freezeTarget(trusting(), { target, frozen: true, reason: 'incident', operatorKey: key }),
    resolve: ({ changeId }, key) =>
      recordEffect(trusting(), { changeId, applied: false, reason: 'looked', operatorKey: key }),
    'breaker reset': (_world, key) =>
      resetBreakers(trusting(), {
        tenant: 'acme',
        sourceTool: 'S',
        validatorId: null,
        reason: 'fixed',
        operatorKey: key,
      }),
  };

  describe.each([
    ['that is not in the trust file', strangerKey, 'expected the key of an operator in the trust file, got '],
    [
      'whose time has ended',
      endedKey,
      `by the trust file, the key ${ended.keyId} counts only until ${until}. Nothing was recorded`,
    ],
  ])('%s', (_why, key, message) => {
    test.each(Object.entries(SIGNS))('is refused by `%s`, which records nothing', async (_command, sign) => {
      const world = new ReviewWorld();
      await publish(world);
      await begun(world);
      const written = async (): Promise<unknown> => {
        const { rows } = await database.open('admin').query(
          `select (select count(*) from policy_revisions) as revisions, (select count(*) from target_freezes) as freezes,
             (select count(*) from ledger) as ledger, (select count(*) from breaker_rows) as breakers, (select count(*) from keys) as keys,
             (select count(*) from enrollments) as links, (select count(*) from key_revocations) as revoked_keys,
             (select count(*) from policy_revocations) as revoked_policies`,
        );
        return rows;
      };
      const before = await written();
      await expect(sign(world, key)).rejects.toThrow(`--operator-key: ${message}`);
      expect(await written()).toEqual(before);
      expect(existsSync(newKey)).toBe(false);
    });
  });
});

describe('`resolve` of an effect that an operator has resolved before', () => {
  const resolution = { reason: 'looked', operatorKey };

  test('records the same outcome once', async () => {
    const changeId = await begun(new ReviewWorld());
    for (let i = 0; i < 2; i++) await recordEffect(env(), { changeId, applied: false, ...resolution });
    expect(await createLedger(database.open('admin')).readKinds(changeId, ['resolved'])).toHaveLength(1);
  });

  test('refuses the other outcome, which would not count', async () => {
    const changeId = await begun(new ReviewWorld());
    await recordEffect(env(), { changeId, applied: false, ...resolution });
    await expect(recordEffect(env(), { changeId, applied: true, ...resolution })).rejects.toThrow(
      /The effect was resolved before as not applied, .*looked.*the first statement counts/,
    );
    expect(await createLedger(database.open('admin')).readKinds(changeId, ['resolved'])).toHaveLength(1);
  });
});

describe('`resolve` by several operators', () => {
  test('at once is acknowledged to the one whose statement counts, and refused to the other', async () => {
    const changeId = await begun(new ReviewWorld());
    const lock = await openedClient(database.adminUrl);
    const waiting = async (): Promise<boolean> => {
      const { rows } = await database
        .open('admin')
        .query<{ n: number }>(`select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock'`);
      return rows[0]?.n === 2;
    };
    try {
      // Both have read the ledger before one of them writes.
      await lock.query('begin; lock table ledger in share row exclusive mode');
      const both = [true, false].map((applied) =>
        recordEffect(env(), { changeId, applied, reason: 'looked', operatorKey }),
      );
      const results = Promise.allSettled(both);
      await eventually('both wait to write', waiting, { everyMs: 20 });
      await lock.query('commit');
      expect((await results).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const [row] = await createLedger(database.open('admin')).readKinds(changeId, ['resolved']);
      const [first] = await Promise.allSettled(both);
      expect(first?.status === 'fulfilled').toBe(row?.row.body['applied']);
    } finally {
      await lock.end();
    }
  });

  test('is not refused because of a statement by a key that is no longer trusted', async () => {
    const world = new ReviewWorld();
    const changeId = await begun(world);
    const former = newKeyPair();
    const { target } = world.submission;
    const statement = { changeId, target, reason: 'looked', resolvedAt: new Date().toISOString() };
    await recordResolution(createLedger(database.open('cs_operator')), { ...statement, applied: false }, former);
    await recordEffect(env(), { changeId, applied: true, reason: 'looked', operatorKey });
    const rows = await createLedger(database.open('admin')).readKinds(changeId, ['resolved']);
    expect(rows.map(({ row }) => row.body['applied'])).toEqual([false, true]);
  });
});

describe('`breaker reset` of breakers with a row that cannot be read', () => {
  const pair = { tenant: 'acme', sourceTool: 'S' };
  const request = { ...pair, reason: 'fixed', operatorKey };
  beforeEach(() =>
    database
      .open('admin')
      .query(`insert into breaker_rows (tenant, source_tool, kind, body) values ('acme', 'S', 'state', '{}')`),
  );

  test('closes all of them, and says so', async () => {
    expect(await resetBreakers(env(), { ...request, validatorId: null })).toBeNull();
    expect(await listBreakers(env())).toMatchObject([{ ...pair, breakers: [] }]);
  });

  test('refuses to reset a single one, which would not help', async () => {
    await expect(resetBreakers(env(), { ...request, validatorId: 'guardian.held' })).rejects.toThrow(
      '--validator: a row of acme/S cannot be read, so only all of its breakers can be reset. Repeat without --validator',
    );
  });
});
