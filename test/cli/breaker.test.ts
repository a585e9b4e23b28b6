import { runCli, type CliDeps } from '../../cli';
import type { BreakerAdmin } from '../../cli/deps';
import { failing, hex } from '../client/fakes';

const AT = Date.parse('2026-11-20T10:00:00.000Z');

async function run(args: string[], admin: Partial<BreakerAdmin>) {
  let out = '';
  let err = '';
  let closed = 0;
  const deps = failing<CliDeps>({
    version: '1',
    stdout: { isTTY: false, write: (text) => (out += text) },
    stderr: { isTTY: false, write: (text) => (err += text) },
    stdin: { isTTY: false, read: async () => new Uint8Array() },
    env: {},
    now: () => new Date(AT),
    breakers: async () => ({ ...failing<BreakerAdmin>({}), ...admin, close: async () => void closed++ }),
  });
  return { code: await runCli(args, deps), out, err, closed: () => closed };
}

test('breaker list says which is open and since when, by the time of asking', async () => {
  const open = { state: 'open', since: AT - 90_000, evidence: [hex('1')], probe: null } as const;
  const breakers = [
    { validatorId: 'guardian.held', ...open, halfOpenAt: AT + 1 },
    { validatorId: 'guardian.half', ...open, halfOpenAt: AT },
    { validatorId: 'guardian.fine', state: 'closed', samples: 3, weight: 0.25 },
  ] as const;
  const list = async () => [{ tenant: 'acme', sourceTool: 'SQLDryRun', breakers, resets: [] }];
  const ran = await run(['breaker', 'list'], { list });
  expect(ran.code).toBe(0);
  expect(ran.out.split('\n').map((row) => row.split('\t').slice(2, 4))).toEqual([
    ['guardian.held', 'open'],
    ['guardian.half', 'half_open'],
    ['guardian.fine', 'closed'],
    [],
  ]);
  expect(ran.closed()).toBe(1);
});

test('breaker list says so when there is none, on standard error alone', async () => {
  const ran = await run(['breaker', 'list'], { list: async () => [] });
  expect([ran.code, ran.out, ran.err]).toEqual([0, '', 'no breaker has a sample yet\n']);
});

test('breaker reset needs a reason, and resets one validator or all', async () => {
  const reset = jest.fn(async () => ['guardian.held']);
  expect((await run(['breaker', 'reset', 'acme', 'SQLDryRun'], { reset })).code).toBe(2);
  expect(reset).not.toHaveBeenCalled();
  const pair = { tenant: 'acme', sourceTool: 'SQLDryRun', reason: 'fixed' };
  const one = await run(
    ['breaker', 'reset', 'acme', 'SQLDryRun', '--reason', 'fixed', '--validator', 'guardian.held', '--actor', 'dana'],
    { reset },
  );
  expect([one.code, one.out]).toEqual([0, 'guardian.held  closed\n']);
  await run(['breaker', 'reset', 'acme', 'SQLDryRun', '--reason', 'fixed'], { reset });
  expect(reset.mock.calls).toEqual([
    [{ ...pair, validatorId: 'guardian.held', actor: 'dana' }],
    [{ ...pair, validatorId: null, actor: null }],
  ]);
});
