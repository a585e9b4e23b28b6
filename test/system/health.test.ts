import { setTimeout as pause } from 'node:timers/promises';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { remoteModules } from '../../cli/remote-modules';
import { startTemporalServer, type TemporalServer } from '../../dev/embedded/temporal-server';
import { startEmbeddedPostgres, type PostgresServer } from '../../dev/embedded/postgres';
import { startProcess, type RunningProcess } from '../../workers/start-process';
import { SEARCH_ATTRIBUTES } from '../../policy/contracts/search-attributes';
import { readEnvFile } from '../../workers/env-file';
import { runCommand, type CommandRun } from '../cli/run-command';
import { compiled } from '../support/compiled';
import { eventually } from '../support/eventually';
import { initialData } from '../support/initial-data';
import { initialized, type Initialized } from '../support/initialized';
import { reusablePort } from '../support/listening-port';

const WORKERS = ['review', 'judge', 'commit'] as const;
jest.setTimeout(180_000);

/** Data of both servers, which the tests stop and start again on the same port. */
const scratch = mkdtempSync(join(tmpdir(), 'countersign-health-'));
let postgres: PostgresServer;
let temporal: TemporalServer;
let set: Initialized;
let urls: Readonly<Record<string, string>>;
const running = new Map<string, RunningProcess>();

const startPostgres = (port: number): Promise<PostgresServer> =>
  startEmbeddedPostgres({ stateDir: scratch, say: () => {}, fast: true, port });
const startTemporal = (port: number): Promise<TemporalServer> =>
  startTemporalServer({
    cliPath: process.env['COUNTERSIGN_TEST_CLI'] ?? '',
    dir: join(scratch, 'temporal'),
    namespace: 'default',
    searchAttributes: SEARCH_ATTRIBUTES,
    port,
    say: () => {},
  });

beforeAll(async () => {
  chmodSync(scratch, 0o711);
  await initialData(scratch);
  [postgres, temporal] = await Promise.all([startPostgres(await reusablePort()), startTemporal(await reusablePort())]);
  set = await initialized({
    temporalAddress: temporal.address,
    namespace: 'default',
    adminUrl: (database) => postgres.superuserUrl(database),
    createDatabase: async (name) => void (await postgres.createDatabase(name)),
  });
  const dist = await compiled();
  const codecPort = await reusablePort();
  const keys = join(scratch, 'payload-keys.json');
  writeFileSync(keys, JSON.stringify({ current: 'k1', keys: { k1: '11'.repeat(32) } }), { mode: 0o600 });
  const envs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    ...Object.fromEntries([...WORKERS, 'gateway'].map((name) => [name, readEnvFile(join(set.dir, `${name}.env`))])),
    codec: {
      COUNTERSIGN_PAYLOAD_KEYS_FILE: keys,
      COUNTERSIGN_UI_ORIGIN: 'http://127.0.0.1:8233',
      COUNTERSIGN_CODEC_PORT: String(codecPort),
    },
  };
  urls = {
    ...Object.fromEntries(
      WORKERS.map((name) => [name, `http://${envs[name]?.['COUNTERSIGN_HEALTH_ADDRESS'] ?? ''}`] as const),
    ),
    gateway: set.gatewayUrl,
    codec: `http://127.0.0.1:${codecPort}`,
  };
  await Promise.all(
    Object.entries(envs).map(async ([name, env]) => {
      const script = join(dist, 'workers', `${name}.js`);
      running.set(name, await startProcess(name as 'gateway', env, scratch, () => {}, script));
    }),
  );
}, 180_000);
afterAll(async () => {
  await Promise.all([...running.values()].map((each) => each.stop()));
  await Promise.all([postgres.stop(), temporal.stop()]);
  set.remove();
  rmSync(scratch, { recursive: true, force: true });
}, 60_000);

/** Status and body of a probe. A busy machine may take longer than the 5 s of the manifests. */
async function probe(name: string, path: string, withinMs = 30_000): Promise<string> {
  const response = await fetch(`${urls[name] ?? ''}${path}`, { signal: AbortSignal.timeout(withinMs) });
  return `${response.status} ${await response.text()}`;
}

/** Waits until `/readyz` of the workers and of the gateway say exactly this of each part, and asserts that `/healthz` still answers. */
async function readiness(status: number, database: string, temporalState: string, polling: string): Promise<void> {
  const services = `"database":"${database}","temporal":"${temporalState}"`;
  const ok = `{"ok":${status === 200},`;
  await Promise.all(
    [...WORKERS, 'gateway'].map(async (name) => {
      const expected = `${status} ${ok}${services}${name === 'gateway' ? '' : `,"polling":"${polling}"`}}`;
      await eventually(`${name}: ${expected}`, async () => (await probe(name, '/readyz')) === expected, {
        everyMs: 200,
      });
      expect([name, await probe(name, '/healthz')]).toEqual([name, '200 {"ok":true}']);
    }),
  );
  // It needs no service.
  expect(await probe('codec', '/readyz')).toBe('200 {"ok":true}');
}

/** A command line on the host of the processes, which uses both services directly. */
const cli = (args: readonly string[]): Promise<CommandRun> =>
  runCommand(args, { host: { env: set.cliEnv, now: () => new Date(), sleep: pause, remote: remoteModules } });

test('every process is ready while both services answer', async () => {
  await readiness(200, 'up', 'up', 'up');
});

test('a process that is stopped does not answer, and one that continues does', async () => {
  const { pid } = running.get('judge') ?? { pid: 0 };
  process.kill(pid, 'SIGSTOP');
  try {
    await expect(probe('judge', '/healthz', 5_000)).rejects.toMatchObject({ name: 'TimeoutError' });
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  expect(await probe('judge', '/healthz')).toBe('200 {"ok":true}');
});

describe('while a review waits for a person', () => {
  let id: string;
  beforeAll(async () => {
    const file = join(scratch, 'change.sql');
    writeFileSync(file, 'update items set stock = stock + 1');
    const submitted = await cli([
      ...['submit', file, '--target', 'shop', '--tool', 'SQLDryRun'],
      ...['--key', join(set.dir, 'keys', 'agent-shopbot.key.json')],
    ]);
    id = submitted.out.trim();
    await eventually('a person is asked', async () => (await cli(['show', id])).out.includes('alice'), {
      everyMs: 200,
    });
  });

  /** Commands with the parts that their errors may name. */
  const commands = (): readonly (readonly string[])[] => {
    const key = ['--key', set.aliceKey];
    return [
      ['list'],
      ['show', id],
      ['result', id],
      ['answer', id, '--all', '--confirm', ...key],
      ['sign', id, '--all', '--confirm', ...key],
      ['withdraw', id, ...key],
      ['export', id, '--out', join(scratch, 'evidence.json')],
      ['ledger', 'show', id],
      ['ledger', 'verify'],
      ['keys', 'list'],
      ['policy', 'publish', join(set.dir, '..', 'policy.yaml'), '--operator-key', set.request.operatorKey],
      ['target', 'freeze', 'shop', '--reason', 'test', '--operator-key', set.request.operatorKey],
      ['resolve', id, '--applied', '--reason', 'test', '--operator-key', set.request.operatorKey],
    ];
  };

  test('with PostgreSQL stopped, /readyz and every command name it and not a worker, and all recover', async () => {
    const { port } = postgres;
    await postgres.stop();
    await readiness(503, 'down', 'up', 'up');
    const runs = await Promise.all(commands().map(async (args) => ({ args, ...(await cli(args)) })));
    const wrong = runs.filter(
      ({ code, err }) => code !== 1 || !/database|PostgreSQL/.test(err) || /worker|Temporal/.test(err),
    );
    postgres = await startPostgres(port);
    expect(postgres.port).toBe(port);
    await readiness(200, 'up', 'up', 'up');
    expect(wrong).toEqual([]);
  });

  test('with Temporal stopped, /readyz says so, what is in the ledger can be read, and an answer names Temporal', async () => {
    const { port } = temporal;
    await temporal.stop();
    await readiness(503, 'up', 'down', 'down');
    for (const args of [['list'], ['show', id], ['ledger', 'show', id]]) expect((await cli(args)).code).toBe(0);
    const { code, err } = await cli(['answer', id, '--all', '--confirm', '--key', set.aliceKey]);
    expect([code, err]).toEqual([1, expect.stringContaining('Temporal')]);
    expect(err).not.toMatch(/worker|PostgreSQL/);
    temporal = await startTemporal(port);
    expect(temporal.port).toBe(port);
    await readiness(200, 'up', 'up', 'up');
  });

  test('after both outages the answer counts, and the change is committed', async () => {
    expect(await cli(['answer', id, '--all', '--confirm', '--key', set.aliceKey])).toMatchObject({ code: 0 });
    expect(await cli(['result', id, '--wait', '60'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('COMMITTED'),
    });
  });
});

test('a worker that is stopped, and a health address that is taken', async () => {
  await running.get('judge')?.stop();
  await expect(probe('judge', '/healthz')).rejects.toThrow('fetch failed');
  const env = { ...readEnvFile(join(set.dir, 'judge.env')), COUNTERSIGN_HEALTH_ADDRESS: new URL(set.gatewayUrl).host };
  const script = join(await compiled(), 'workers', 'judge.js');
  await expect(startProcess('judge', env, scratch, () => {}, script)).rejects.toThrow(
    /ended with exit code 1:[^]*COUNTERSIGN_HEALTH_ADDRESS: cannot listen on 127\.0\.0\.1:\d+: listen EADDRINUSE/,
  );
});
