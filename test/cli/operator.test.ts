import { targetInit } from '../../cli/operator/target-init';
import { hex } from '../client/fakes';
import { runCommand, type FakeRemote } from './run-command';

const run = (args: string[], operator: NonNullable<FakeRemote['operator']>) =>
  runCommand(args, { remote: { operator } });

const SIGNED = ['--reason', 'seen in the log', '--operator-key', 'op.json'];
const signed = { reason: 'seen in the log', operatorKey: 'op.json' };

test('resolve requires one outcome, a reason and a key, and reports if the review could not be notified', async () => {
  const recordEffect = jest.fn(async (_env: object, _effect: object) => ({ told: false }));
  for (const args of [
    [hex('c')],
    [hex('c'), '--applied', '--not-applied', ...SIGNED],
    [hex('c'), ...SIGNED],
    [hex('c'), '--applied', '--reason', 'x'],
    ['c', '--applied', ...SIGNED],
  ])
    expect((await run(['resolve', ...args], { recordEffect })).code).toBe(2);
  expect(recordEffect).not.toHaveBeenCalled();
  const ran = await run(['resolve', hex('c'), '--not-applied', ...SIGNED], { recordEffect });
  expect([ran.code, ran.out]).toEqual([0, `${hex('c')}  not applied: on record\n`]);
  expect(ran.err).toContain('within ten minutes');
  expect(recordEffect).toHaveBeenCalledWith({}, { changeId: hex('c'), applied: false, ...signed });
});

test('target init names the variable of a target that it cannot reach, and not its password', async () => {
  const env = { COUNTERSIGN_TARGET_ADMIN_URL: 'postgres://admin:secret@127.0.0.1:1/shop' };
  const work = targetInit(env, 'shop', { dryRun: false, rotate: false }, () => undefined);
  await expect(work).rejects.toThrow(/^COUNTERSIGN_TARGET_ADMIN_URL: (Error: )?connect ECONNREFUSED 127\.0\.0\.1:1$/);
});

test('target freeze and unfreeze require a reason and sign it', async () => {
  const freezeTarget = jest.fn(async (_env: object, _freeze: object) => 3);
  expect((await run(['target', 'freeze', 'shop'], { freezeTarget })).code).toBe(2);
  expect(freezeTarget).not.toHaveBeenCalled();
  expect((await run(['target', 'freeze', 'shop', ...SIGNED], { freezeTarget })).out).toBe('shop  frozen\n');
  expect((await run(['target', 'unfreeze', 'shop', ...SIGNED, '--json'], { freezeTarget })).out).toBe(
    '{"target":"shop","frozen":false,"n":3}\n',
  );
  expect(freezeTarget.mock.calls.map(([, freeze]) => freeze)).toEqual([
    { target: 'shop', frozen: true, ...signed },
    { target: 'shop', frozen: false, ...signed },
  ]);
});

test.each(['x'.repeat(45), 'a b', ''])(
  'target init refuses the name %j, whose roles would have another name',
  async (name) => {
    const targetInit = jest.fn(async () => []);
    const ran = await runCommand(['target', 'init', name], { remote: { targetInit: { targetInit } } });
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('name: ') as string });
    expect(targetInit).not.toHaveBeenCalled();
  },
);
