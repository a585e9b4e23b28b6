import { canonicalJson } from '../../../policy/contracts/canonical-json';
import type { PlanPolicy } from '../../../policy/contracts/plan';
import {
  callbackRegistry,
  defineCallback,
  evaluateCallback,
  type CallbackDefinition,
  type PolicyCallContext,
} from '../../../policy/rules/callback';

const context = (): PolicyCallContext => ({
  finding: {
    validator_id: 'guardian.a',
    phase: 'preflight',
    class: 'POLICY',
    status: 'BLOCK',
    reason: 'r',
    evidenceRefs: ['review:x'],
    logic_hash: '0'.repeat(64),
  },
  policy: { key: 'p', name: 'P', metadata: { hours: [9, 17] } },
  facts: { ok: false, code: 'none', message: '', span: null },
  metadata: { affected_rows: 3, nested: { a: 1 } },
  requester: null,
  tenant: 't',
  target: 'shop',
  sourceTool: 'SQLDryRun',
});

const runCallback = (evaluate: CallbackDefinition['evaluate'], given = context(), timeout?: Promise<unknown>) =>
  evaluateCallback(
    callbackRegistry([defineCallback({ key: 'c', version: 'v1', evaluate })]),
    { key: 'c', version: 'v1' },
    given,
    timeout,
  );

test('returns the result of the callback, with a null message by default [V1]', async () => {
  await expect(runCallback(() => ({ passed: true }) as never)).resolves.toEqual({ passed: true, message: null });
  await expect(runCallback(() => Promise.resolve({ passed: false, message: 'outside the window' }))).resolves.toEqual({
    passed: false,
    message: 'outside the window',
  });
});

test.each([
  ['a bare true', () => true],
  ['nothing', () => undefined],
  ['a string', () => 'passed'],
  ['passed as a string', () => ({ passed: 'true', message: null })],
  ['an unknown member', () => ({ passed: true, message: null, override: true })],
  ['no passed', () => ({ message: 'fine' })],
])('does not pass if the callback returns an invalid result: %s [V2, V26, T54]', async (_what, evaluate) => {
  const result = await runCallback(evaluate as never);
  expect(result.passed).toBe(false);
  expect(result.message).toMatch(
    /^Callback "c" could not be evaluated: expected \{passed: boolean, message: string \| null\}, got /,
  );
});

test('does not pass if the callback throws or rejects, and gives the reason [V26, T54]', async () => {
  await expect(
    runCallback(() => {
      throw new Error('no network');
    }),
  ).resolves.toEqual({ passed: false, message: 'Callback "c" could not be evaluated: it threw Error: no network' });
  await expect(runCallback(() => Promise.reject(new TypeError('bug')))).resolves.toMatchObject({ passed: false });
  await expect(
    runCallback(() => {
      throw undefined;
    }),
  ).resolves.toMatchObject({ passed: false });
  await expect(
    runCallback(() => {
      throw new Error('x'.repeat(5000));
    }),
  ).resolves.toMatchObject({ passed: false, message: expect.stringMatching(/^.{2000}$/s) as string });
});

test('does not pass, and has a message that can be signed, whatever the callback throws or returns', async () => {
  const thrown = [Object.create(null), { toString: () => undefined }, Symbol('s'), new Error('a\ud800'), 'b\udc00'];
  for (const error of thrown) {
    const result = await runCallback(() => {
      throw error;
    });
    expect(result.passed).toBe(false);
    expect(() => canonicalJson(result)).not.toThrow();
  }
  await expect(runCallback(() => ({ passed: true, message: 'cut \ud83d' }))).resolves.toEqual({
    passed: true,
    message: 'cut \ufffd',
  });
});

test('does not pass if the callback takes too long [V26, T54]', async () => {
  await expect(runCallback(() => new Promise(() => undefined), context(), Promise.resolve())).resolves.toEqual({
    passed: false,
    message: 'Callback "c" could not be evaluated: it took too long',
  });
});

test('does not pass if the callback is not registered or has another version [V26, V30]', async () => {
  const registry = callbackRegistry([
    defineCallback({ key: 'c', version: 'v2', evaluate: () => ({ passed: true, message: null }) }),
  ]);
  await expect(evaluateCallback(registry, { key: 'c', version: 'v1' }, context())).resolves.toMatchObject({
    passed: false,
    message: expect.stringContaining('this process has version v2') as string,
  });
  await expect(evaluateCallback(registry, { key: 'constructor', version: 'v1' }, context())).resolves.toMatchObject({
    passed: false,
  });
});

test('passes the finding, the policy metadata, facts, claims and requester to the callback, and nothing else [V32]', async () => {
  let seen: PolicyCallContext | undefined;
  const policy = { ...context().policy, quorum: 2, group: 'dba' } as unknown as PlanPolicy;
  await runCallback(
    (given) => {
      seen = given;
      return { passed: true, message: null };
    },
    { ...context(), policy, secret: 'x' } as never,
  );
  expect(seen).toEqual(context());
});

test('passes frozen copies, so that the callback cannot change shared data [G15, G37, T37]', async () => {
  const given = context();
  const result = await runCallback((received) => {
    (received.finding as { status: string }).status = 'ALLOW';
    return { passed: true, message: null };
  }, given);
  expect(result).toMatchObject({ passed: false, message: expect.stringContaining('read only') as string });
  const nested = await runCallback((received) => {
    (received.metadata['nested'] as { a: number }).a = 2;
    return { passed: true, message: null };
  }, given);
  expect(nested.passed).toBe(false);
  expect(given).toEqual(context());
});

describe('the registry', () => {
  const callback = defineCallback({ key: 'c', version: 'v1', evaluate: () => ({ passed: true, message: null }) });

  test('rejects a duplicate key and a wrong count, and cannot be extended later [V31, T67]', () => {
    expect(() => callbackRegistry([callback, callback])).toThrow(/registered twice/);
    expect(() => callbackRegistry([callback], 2)).toThrow(/expected 2 entries, got 1/);
    const registry = callbackRegistry([callback], 1);
    expect(Object.isFrozen(registry)).toBe(true);
    expect(Object.keys(registry).sort()).toEqual(['get', 'keys']);
    (registry.keys() as string[]).push('late');
    expect(registry.keys()).toEqual(['c']);
  });

  test.each([
    { key: '', version: 'v1' },
    { key: 'a/b', version: 'v1' },
    { key: 'c', version: '' },
    { key: 'c', version: 'v1', evaluate: './evil.js' },
  ])('rejects %j [V30]', (bad) => {
    expect(() => defineCallback({ evaluate: () => ({ passed: true, message: null }), ...bad } as never)).toThrow(
      TypeError,
    );
  });
});
