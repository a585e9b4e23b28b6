import { setTimeout as pause } from 'node:timers/promises';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { remoteModules } from '../../cli/remote-modules';
import { startProcess, type RunningProcess } from '../../workers/start-process';
import { runCommand, type CommandRun } from '../cli/run-command';
import { compiled } from '../support/compiled';
import { eventually } from '../support/eventually';
import { reusablePort } from '../support/listening-port';
import { SHOP, shopBundle } from '../support/shop-bundle';
import { useSystem } from '../support/system';
import { gatewayEnv } from '../support/system-env';
import { waitingPrice } from './scenarios';

const dir = mkdtempSync(join(tmpdir(), 'countersign-cli-gateway-'));
const system = useSystem({ ...SHOP, name: 'cli-gateway' });
let gateway: RunningProcess;
let url: string;

beforeAll(async () => {
  const dist = await compiled();
  const port = await reusablePort();
  url = `http://127.0.0.1:${port}`;
  const env = gatewayEnv(system, port);
  gateway = await startProcess('gateway', env, dir, () => {}, join(dist, 'workers', 'gateway.js'));
  for (const name of ['agent', 'alice', 'operator'] as const) {
    const { path } = system.setup.keys[name];
    const args = ['login', url, '--key', path, '--trust', system.setup.trustFile, '--tenant', 'default'];
    expect(await as(name, args)).toMatchObject({ code: 0 });
  }
});
afterAll(async () => {
  await gateway.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** The command line of a person or agent who has nothing but a login. */
const as = (
  who: 'agent' | 'alice' | 'operator',
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<CommandRun> =>
  runCommand(args, {
    host: {
      env: { XDG_CONFIG_HOME: join(dir, who), COUNTERSIGN_STATE_DIR: join(dir, 'none'), ...more },
      shellEnv: { XDG_CONFIG_HOME: join(dir, who), ...more },
      now: () => new Date(),
      sleep: pause,
      remote: remoteModules,
    },
  });

/** The id of a change that waits for an answer to one violation. */
async function submitted(row: number, requestKey = system.suffix): Promise<string> {
  const { raw, metadata } = waitingPrice(row);
  const file = join(dir, `change-${row}.json`);
  writeFileSync(file, raw);
  const more = ['--metadata', JSON.stringify(metadata), '--request-key', requestKey];
  const { code, out, err } = await as('agent', ['submit', file, '--target', 'shop', '--tool', 'SQLCAS', ...more]);
  expect([code, err]).toEqual([8, expect.stringContaining('countersign show')]);
  const id = out.trim();
  const disclosed = async (): Promise<boolean> => {
    const result = await as('alice', ['result', id]);
    if (result.code === 10) throw new Error(`The review ended before it was answered: ${result.out}`);
    return (await as('alice', ['sign', id, '--all', '--confirm'])).code === 0;
  };
  await eventually('the violations are disclosed', disclosed, { everyMs: 200 });
  return id;
}

test('an agent submits and an approver answers through the gateway, and both see the verified end', async () => {
  const id = await submitted(1);
  const short = id.slice(0, 8);
  expect((await as('alice', ['list', '--state', 'INTERVENTION_REQUIRED'])).out).toContain(id);
  const shown = await as('alice', ['show', short]);
  expect(shown).toMatchObject({ code: 0, err: '' });
  expect(shown.out).toMatch(/500.*600/s);
  const denied = await as('agent', ['answer', id, '--all', '--reject', '--reason', 'no']);
  expect(denied).toMatchObject({ code: 13, err: expect.stringContaining('lacks the right "answer"') });
  const confirm = ['--all', '--confirm', '--reason', 'agreed'];
  const unsafe = await as('alice', ['answer', short, ...confirm]);
  expect(unsafe).toMatchObject({ code: 2, err: expect.stringContaining('expected the full change id') });
  const answered = await as('alice', ['answer', id, ...confirm]);
  expect(answered).toMatchObject({ code: 0, out: expect.stringContaining('accepted') });
  for (const who of ['agent', 'alice'] as const) {
    const result = await as(who, ['result', short, '--wait', '60']);
    expect(result).toMatchObject({ code: 0, out: expect.stringContaining('COMMITTED') });
  }
  expect((await system.shop('select cents from prices where id = 1'))[0]).toEqual({ cents: 600 });
  expect(await as('alice', ['ledger', 'show', short])).toMatchObject({
    code: 0,
    out: expect.stringContaining('alice confirm'),
  });
  const file = join(dir, 'evidence.json');
  expect((await as('alice', ['export', short, '--bytes', '--out', file])).code).toBe(0);
  expect(await as('alice', ['verify', file])).toMatchObject({ code: 0, out: expect.stringContaining('verified COMM') });
});

test('a result can be awaited before a review worker has opened the review', async () => {
  await system.stopWorker('review');
  const { raw, metadata } = waitingPrice(3);
  const file = join(dir, 'not-opened.json');
  writeFileSync(file, raw);
  const more = ['--metadata', JSON.stringify(metadata), '--request-key', `${system.suffix}-not-opened`];
  const submit = await as('agent', ['submit', file, '--target', 'shop', '--tool', 'SQLCAS', ...more]);
  const id = submit.out.trim();
  expect([submit.code, id]).toEqual([8, expect.stringMatching(/^[0-9a-f]{64}$/)]);
  expect(await as('agent', ['result', id, '--wait', '1'])).toMatchObject({ code: 8, err: '' });
  await system.startWorker('review');
  const withdrawn = async (): Promise<boolean> =>
    (await as('agent', ['withdraw', id, '--reason', 'not needed'])).code === 0;
  await eventually('the change is withdrawn', withdrawn, { everyMs: 200 });
  expect((await as('agent', ['result', id, '--wait', '60'])).code).toBe(10);
});

test('the agent withdraws its change through the gateway', async () => {
  const id = await submitted(2);
  expect(await as('agent', ['withdraw', id, '--reason', 'not needed'])).toMatchObject({ code: 0 });
  expect(await as('agent', ['result', id, '--wait', '60'])).toMatchObject({
    code: 10,
    out: expect.stringContaining('withdrawn'),
  });
});

test('an operator publishes the policy through the gateway, new reviews use it, and others may not', async () => {
  // Plans are compiled and signed here, so the extension is loaded here.
  const extension = { COUNTERSIGN_EXTENSIONS: 'test/support/shop-extension.ts' };
  const shown = async (...more: string[]) => await as('operator', ['policy', 'show', ...more]);
  expect((await shown('--bundle')).out.trimEnd()).toBe(shopBundle().trimEnd());
  const first = JSON.parse((await shown('--json')).out) as { revision: number; keyId: string };
  expect(first).toMatchObject({ revision: 1, keyId: system.setup.keys.operator.key.keyId });

  const file = join(dir, 'next.policy.yaml');
  writeFileSync(
    file,
    shopBundle()
      .replace(/^name: .*$/m, 'name: next')
      .replace(/^domain: .*$/m, 'domain: next'),
  );
  const publish = ['policy', 'publish', file];
  for (const who of ['agent', 'alice'] as const)
    expect(await as(who, publish, extension)).toMatchObject({
      code: 13,
      err: expect.stringContaining('expected an operator key'),
    });
  expect(await as('operator', publish, extension)).toMatchObject({ code: 0, out: 'revision 2 published\n' });
  expect((await as('operator', publish, extension)).out).toBe('revision 2 is already published\n');
  expect((await shown()).out).toMatch(/^revision 2 .*\n[^]*shop\/SQLCAS {2}plan [0-9a-f]{64}/);

  // Review workers keep the policy for a second.
  let id = '';
  await eventually('a review with the new policy', async () => {
    id = await submitted(5, String(performance.now()));
    return /"revision":\s*2/.test((await as('alice', ['ledger', 'show', id, '--json'])).out);
  });
  expect(await as('alice', ['answer', id, '--all', '--confirm', '--reason', 'ok'])).toMatchObject({ code: 0 });
  expect(await as('agent', ['result', id, '--wait', '60'])).toMatchObject({ code: 0 });
});

test('a gateway that is stopped is named as what is down', async () => {
  await gateway.stop();
  expect(await as('alice', ['list', '--json'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('"gateway_unavailable"'),
  });
});
