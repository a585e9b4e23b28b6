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

const asked = (evaluate: CallbackDefinition['evaluate'], given = context(), timeout?: Promise<unknown>) =>
  evaluateCallback(
    callbackRegistry([defineCallback({ key: 'c', version: 'v1', evaluate })]),
    { key: 'c', version: 'v1' },
    given,
    timeout,
  );

test('gives the callback’s answer, its message null by default [V1]', async () => {
  await expect(asked(() => ({ passed: true }) as never)).resolves.toEqual({ passed: true, message: null });
  await expect(asked(() => Promise.resolve({ passed: false, message: 'outside the window' }))).resolves.toEqual({
    passed: false,
    message: 'outside the window',
  });
});

test.each([
  ['a bare true', () => true],
  ['nothing', () => undefined],
  ['a text', () => 'passed'],
  ['passed as a text', () => ({ passed: 'true', message: null })],
  ['an unknown member', () => ({ passed: true, message: null, override: true })],
  ['no passed', () => ({ message: 'fine' })],
])('%s is no answer: not passed, with the reason [V2, V26, T54]', async (_what, evaluate) => {
  const result = await asked(evaluate as never);
  expect(result.passed).toBe(false);
  expect(result.message).toMatch(
    /^Callback "c" could not be evaluated: expected \{passed: boolean, message: string \| null\}, got /,
  );
});

test('a throw, early or late, is not passed, with the reason [V26, T54]', async () => {
  await expect(
    asked(() => {
      throw new Error('no network');
    }),
  ).resolves.toEqual({ passed: false, message: 'Callback "c" could not be evaluated: it threw Error: no network' });
  await expect(asked(() => Promise.reject(new TypeError('bug')))).resolves.toMatchObject({ passed: false });
  await expect(
    asked(() => {
      throw undefined;
    }),
  ).resolves.toMatchObject({ passed: false });
  await expect(
    asked(() => {
      throw new Error('x'.repeat(5000));
    }),
  ).resolves.toMatchObject({ passed: false, message: expect.stringMatching(/^.{2000}$/s) as string });
});

test('one that takes too long is not passed [V26, T54]', async () => {
  await expect(asked(() => new Promise(() => undefined), context(), Promise.resolve())).resolves.toEqual({
    passed: false,
    message: 'Callback "c" could not be evaluated: it took too long',
  });
});

test('a callback that is not registered, or in another version, is not passed [V26, V30]', async () => {
  const registry = callbackRegistry([
    defineCallback({ key: 'c', version: 'v2', evaluate: () => ({ passed: true, message: null }) }),
  ]);
  await expect(evaluateCallback(registry, { key: 'c', version: 'v1' }, context())).resolves.toMatchObject({
    passed: false,
    message: expect.stringContaining('v2 is here') as string,
  });
  await expect(evaluateCallback(registry, { key: 'constructor', version: 'v1' }, context())).resolves.toMatchObject({
    passed: false,
  });
});

test('is given the finding, its policy’s metadata, facts, claim and requester, and nothing else [V32]', async () => {
  let seen: PolicyCallContext | undefined;
  const policy = { ...context().policy, quorum: 2, group: 'dba' } as unknown as PlanPolicy;
  await asked(
    (given) => {
      seen = given;
      return { passed: true, message: null };
    },
    { ...context(), policy, secret: 'x' } as never,
  );
  expect(seen).toEqual(context());
});

test('cannot change what others see: it gets frozen copies [G15, G37, T37]', async () => {
  const given = context();
  const result = await asked((received) => {
    (received.finding as { status: string }).status = 'ALLOW';
    return { passed: true, message: null };
  }, given);
  expect(result).toMatchObject({ passed: false, message: expect.stringContaining('read only') as string });
  const nested = await asked((received) => {
    (received.metadata['nested'] as { a: number }).a = 2;
    return { passed: true, message: null };
  }, given);
  expect(nested.passed).toBe(false);
  expect(given).toEqual(context());
});

describe('the registry', () => {
  const callback = defineCallback({ key: 'c', version: 'v1', evaluate: () => ({ passed: true, message: null }) });

  test('refuses a duplicate key and a wrong count, and takes nothing later [V31, T67]', () => {
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
  ])('refuses %j [V30]', (bad) => {
    expect(() => defineCallback({ evaluate: () => ({ passed: true, message: null }), ...bad } as never)).toThrow(
      TypeError,
    );
  });
});
