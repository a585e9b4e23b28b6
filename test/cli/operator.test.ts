import { runCli, type CliDeps } from '../../cli';
import type { OperatorTools } from '../../cli/deps';
import { failing, hex } from '../client/fakes';

async function run(args: string[], tools: Partial<OperatorTools>) {
  let out = '';
  let err = '';
  let closed = 0;
  const deps = failing<CliDeps>({
    version: '1',
    stdout: { isTTY: false, write: (text) => (out += text) },
    stderr: { isTTY: false, write: (text) => (err += text) },
    stdin: { isTTY: false, read: async () => new Uint8Array() },
    env: {},
    now: () => new Date(),
    operator: async () => ({ ...failing<OperatorTools>({}), ...tools, close: async () => void closed++ }),
  });
  return { code: await runCli(args, deps), out, err, closed: () => closed };
}

const SIGNED = ['--reason', 'seen in the log', '--operator-key', 'op.json'];
const said = { reason: 'seen in the log', operatorKey: 'op.json' };

test('resolve needs one end, a reason and a key, and says when the review could not be told', async () => {
  const resolve = jest.fn(async () => ({ told: false }));
  for (const args of [
    [hex('c')],
    [hex('c'), '--applied', '--not-applied', ...SIGNED],
    [hex('c'), ...SIGNED],
    [hex('c'), '--applied', '--reason', 'x'],
    ['c', '--applied', ...SIGNED],
  ])
    expect((await run(['resolve', ...args], { resolve })).code).toBe(2);
  expect(resolve).not.toHaveBeenCalled();
  const ran = await run(['resolve', hex('c'), '--not-applied', ...SIGNED], { resolve });
  expect([ran.code, ran.out, ran.closed()]).toEqual([0, `${hex('c')}  not applied: on record\n`, 1]);
  expect(ran.err).toContain('within ten minutes');
  expect(resolve).toHaveBeenCalledWith({ changeId: hex('c'), applied: false, ...said });
});

test('target freeze and unfreeze sign with a reason', async () => {
  const freeze = jest.fn(async () => 3);
  expect((await run(['target', 'freeze', 'shop'], { freeze })).code).toBe(2);
  expect(freeze).not.toHaveBeenCalled();
  expect((await run(['target', 'freeze', 'shop', ...SIGNED], { freeze })).out).toBe('shop  frozen\n');
  expect((await run(['target', 'unfreeze', 'shop', ...SIGNED, '--json'], { freeze })).out).toBe(
    '{"target":"shop","frozen":false,"n":3}\n',
  );
  expect(freeze.mock.calls).toEqual([
    [{ target: 'shop', frozen: true, ...said }],
    [{ target: 'shop', frozen: false, ...said }],
  ]);
});
