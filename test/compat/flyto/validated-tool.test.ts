import { newValidatedTool, patternRule, ruleValidator } from '../../../compat/flyto';

test.each<[string, unknown]>([
  ['no diff', undefined],
  ['a diff without bytes', {}],
  ['text instead of bytes', { raw: 'drop table a' }],
])('gate rolls back %s: without bytes a rule finds nothing to object to', async (_, diff) => {
  const rules = ruleValidator('rules', 'v1', patternRule({ name: 'no_drop', forbidden: ['drop'] }));
  const { action, error } = await newValidatedTool('sql', rules).gate({}, diff as never);
  expect([action, String(error)]).toEqual([
    'rollback',
    'TypeError: gate, diff.raw: expected the bytes of the diff as a Uint8Array',
  ]);
});
