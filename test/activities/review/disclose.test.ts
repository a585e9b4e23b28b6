import { verifyChange } from '../../../activities/committer/verify-change';
import type { PolicyCallbackResult } from '../../../policy/contracts/violation';
import { ReviewWorld } from '../../support/review/review-world';

/** Policies whose callback alone answers the finding of the word HOLD. */
const policiesWithCallback = (count: number): Readonly<Record<string, string>> => ({
  policies: Array.from(
    { length: count },
    (_, i) =>
      `\n  - { key: auto${i}, name: Auto, match: { validatorIds: [guardian.demo_hold] }, requiresConfirmation: false, callback: { key: ask, version: v1 } }`,
  ).join(''),
});

/** A review up to the disclosure, whose callback gives these results in turn. */
async function undisclosed(...results: readonly boolean[]): Promise<{ world: ReviewWorld; calls: () => number }> {
  let calls = 0;
  const callback = (): PolicyCallbackResult => ({ passed: results[calls++] ?? false, message: `call ${calls}` });
  const world = new ReviewWorld({ bundle: policiesWithCallback(1), callback });
  await beforeDisclosure(world);
  return { world, calls: () => calls };
}

async function beforeDisclosure(world: ReviewWorld): Promise<void> {
  await world.open();
  await world.guard();
  await world.stage();
  await world.judged({ status: 'ALLOW' });
}

/** `ok`, or the check that refuses the commit. */
async function verified(world: ReviewWorld): Promise<string> {
  const verification = await verifyChange(world.deps, world.input, await world.rows());
  return verification.ok ? 'ok' : verification.check;
}

describe('a repeated disclosure', () => {
  test('returns the first one and runs no callback, so that a later result refuses no commit', async () => {
    const { world, calls } = await undisclosed(true, false);
    const first = await world.disclose();
    const rows = await world.rows();
    world.pass(1);
    expect(await world.disclose()).toEqual(first);
    expect(calls()).toBe(1);
    expect(await world.rows()).toEqual(rows);
    expect(await verified(world)).toBe('ok');
  });

  test('does not run again a callback that failed, which still blocks', async () => {
    const { world, calls } = await undisclosed(false, true);
    await world.disclose();
    expect(Object.values((await world.disclose()).callbackResults)).toEqual([{ passed: false, message: 'call 1' }]);
    expect(calls()).toBe(1);
    expect(await verified(world)).toBe('decision');
  });

  test.each([
    [[true, false], 'ok'],
    [[false, true], 'decision'],
  ] as const)('writes no record if another attempt disclosed while its callback ran: %j', async (results, check) => {
    const { world, calls } = await undisclosed(...results);
    const records = async (): Promise<number> => (await world.kinds()).filter((kind) => kind === 'attested').length;
    const before = await records();
    const [one, other] = await Promise.all([world.disclose(), world.disclose()]);
    expect(other).toEqual(one);
    expect([calls(), await records()]).toEqual([2, before + 1]);
    expect(await verified(world)).toBe(check);
  });
});

test('runs no callback and discloses nothing while an operator has revoked the key of this worker', async () => {
  const { world, calls } = await undisclosed(true);
  world.reregister(world.keys.attestor, { revokedAt: world.at() });
  await expect(world.disclose()).rejects.toMatchObject({ type: 'ErrValidatorBackend', nonRetryable: false });
  expect([calls(), (await world.kinds()).includes('disclosed')]).toEqual([0, false]);
});

describe('callbacks that hang', () => {
  afterEach(() => jest.useRealTimers());

  test('together take less time than one attempt may, and count as failed [T54]', async () => {
    const count = 4;
    const world = new ReviewWorld({ bundle: policiesWithCallback(count), callback: () => new Promise(() => {}) });
    await beforeDisclosure(world);
    jest.useFakeTimers({ doNotFake: ['Date', 'performance', 'queueMicrotask', 'nextTick', 'setImmediate'] });
    let results: readonly PolicyCallbackResult[] = [];
    void world.disclose().then(({ callbackResults }) => (results = Object.values(callbackResults)));
    await jest.advanceTimersByTimeAsync(20_000); // `patient` in workflows/proxies.ts: 30 s
    const failed = { passed: false, message: expect.stringContaining('it took too long') };
    expect(results).toEqual(Array(count).fill(failed));
    expect(await verified(world)).toBe('decision');
  });
});
