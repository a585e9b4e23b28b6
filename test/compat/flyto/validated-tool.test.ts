import { compositeValidator, LLMValidator, newValidatedTool, patternRule, ruleValidator } from '../../../compat/flyto';

const rules = ruleValidator('rules', 'v1', patternRule({ name: 'no_drop', forbidden: ['drop'] }));
const client = { complete: () => Promise.reject(new Error('asked')) };

describe.each<[string, unknown]>([
  ['no diff', undefined],
  ['a diff without bytes', {}],
  ['text instead of bytes', { raw: 'drop table a' }],
  ['an array of larger numbers instead of bytes', { raw: Uint16Array.from(Buffer.from('drop table a')) }],
])('%s', (_, diff) => {
  test('is rolled back by the gate: without bytes a rule finds nothing to object to', async () => {
    const { action, error } = await newValidatedTool('sql', rules).gate({}, diff as never);
    expect([action, String(error)]).toEqual([
      'rollback',
      'TypeError: gate, diff.raw: expected the bytes of the diff as a Uint8Array',
    ]);
  });

  test.each([
    ['a pattern rule', rules],
    ['a composite', compositeValidator('all', 'v1', undefined, rules)],
    ['a model', new LLMValidator('model', 'v1', client, '', 0)],
  ])('is not approved by the validator itself: %s', async (_what, validator) => {
    const error: unknown = await validator.validate({}, diff as never).catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'ErrValidatorBackend', verdict: { approved: false, severity: 'block' } });
    expect(error).not.toMatchObject({ message: 'asked' });
  });
});

test('the gate rolls back also if it is called without a context', async () => {
  const gate = newValidatedTool('sql', rules).gate as (...wrong: unknown[]) => Promise<unknown>;
  expect(await gate(undefined, {})).toMatchObject({ action: 'rollback' });
});
