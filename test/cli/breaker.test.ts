import { hex } from '../client/fakes';
import { runCommand, type FakeRemote } from './run-command';

const AT = Date.parse('2026-11-20T10:00:00.000Z');

const KEY = ['--operator-key', 'op.json'];

const run = (args: string[], breakers: NonNullable<FakeRemote['breakers']>) =>
  runCommand(args, { remote: { breakers } });

test('breaker list prints the phase of each breaker at the current time', async () => {
  const open = { state: 'open', since: AT - 90_000, evidence: [hex('1')], probe: null } as const;
  const breakers = [
    { validatorId: 'guardian.held', ...open, halfOpenAt: AT + 1 },
    { validatorId: 'guardian.half', ...open, halfOpenAt: AT },
    { validatorId: 'guardian.fine', state: 'closed', samples: 3, weight: 0.25 },
  ] as const;
  const listBreakers = async () => [{ tenant: 'acme', sourceTool: 'SQLDryRun', breakers, at: AT }];
  const ran = await run(['breaker', 'list'], { listBreakers });
  expect(ran.code).toBe(0);
  expect(ran.out.split('\n').map((row) => row.split('\t').slice(2, 4))).toEqual([
    ['guardian.held', 'open'],
    ['guardian.half', 'half_open'],
    ['guardian.fine', 'closed'],
    [],
  ]);
});

test('breaker list says that breakers with an unreadable row count as open', async () => {
  const listBreakers = async () => [{ tenant: 'acme', sourceTool: 'SQLCAS', breakers: null, at: AT }];
  expect((await run(['breaker', 'list'], { listBreakers })).out).toContain('all count as open');
});

test('breaker list reports on standard error if there is no breaker', async () => {
  const ran = await run(['breaker', 'list'], { listBreakers: async () => [] });
  expect([ran.code, ran.out, ran.err]).toEqual([0, '', 'no breaker has samples yet\n']);
});

test('breaker reset says that all breakers were closed if their rows could not be read', async () => {
  const args = ['breaker', 'reset', 'acme', 'SQLDryRun', '--reason', 'fixed', ...KEY];
  const ran = await run(args, { resetBreakers: async () => null });
  expect([ran.code, ran.out, ran.err]).toEqual([0, 'all breakers of acme/SQLDryRun  closed\n', '']);
});

test('breaker reset requires a reason and an operator key, and resets one validator or all', async () => {
  const resetBreakers = jest.fn(async (_env: object, _reset: object) => ['guardian.held']);
  expect((await run(['breaker', 'reset', 'acme', 'SQLDryRun'], { resetBreakers })).code).toBe(2);
  expect((await run(['breaker', 'reset', 'acme', 'SQLDryRun', '--reason', 'x'], { resetBreakers })).code).toBe(2);
  expect(resetBreakers).not.toHaveBeenCalled();
  const pair = { tenant: 'acme', sourceTool: 'SQLDryRun', reason: 'fixed', operatorKey: 'op.json' };
  const one = await run(
    ['breaker', 'reset', 'acme', 'SQLDryRun', '--reason', 'fixed', '--validator', 'guardian.held', ...KEY],
    { resetBreakers },
  );
  expect([one.code, one.out]).toEqual([0, 'guardian.held  closed\n']);
  await run(['breaker', 'reset', 'acme', 'SQLDryRun', '--reason', 'fixed', ...KEY], { resetBreakers });
  expect(resetBreakers.mock.calls.map(([, reset]) => reset)).toEqual([
    { ...pair, validatorId: 'guardian.held' },
    { ...pair, validatorId: null },
  ]);
});
