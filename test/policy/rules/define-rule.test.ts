import { z } from 'zod';
import { defineRule } from '../../../policy/rules/define';

const definition = {
  name: 'a_rule',
  pack: 'a-rules',
  logicRevision: 1,
  config: z.strictObject({}),
  sourceTools: ['A'],
  reads: ['facts'],
  defaultLevel: 'confirm',
  why: 'Why.',
  docs: 'https://example.com/',
  apply: () => ({ fires: false }),
};

const define = (more: object) => defineRule({ ...definition, ...more } as never);

test.each<[string, object, RegExp]>([
  ['no name', { name: undefined }, /^Rule: name: expected string, got nothing$/],
  ['no pack', { pack: undefined }, /^Rule "a_rule": pack: expected string, got nothing$/],
  ['a revision that is text', { logicRevision: '1' }, /logicRevision: expected number, got "1"/],
  ['a config that is not a schema', { config: { max: 1 } }, /config: expected a zod schema, such as .*, got an object/],
  ['one source tool without a list', { sourceTools: 'A' }, /sourceTools: "\*" or names of source tools, got "A"/],
  ['reads that do not exist', { reads: ['fact'] }, /reads\.0: .*"facts".*, got "fact"/],
  ['a parser without a version', { parser: { name: 'p' } }, /parser\.version: expected string, got nothing/],
  ['a level that does not exist', { defaultLevel: 'block' }, /defaultLevel: .*"forbid"\|"confirm".*, got "block"/],
  ['no reason for its existence', { why: '' }, /why: /],
  [
    'a page that is not an https URL',
    { docs: 'javascript:alert(1)' },
    /docs: expected an https URL or a page under docs\//,
  ],
  ['no apply', { apply: undefined }, /apply: expected a function that is not async, got nothing/],
  ['an async apply', { apply: async () => ({ fires: true }) }, /apply: .* not async, got an async function/],
  ['a misspelled member', { level: 'forbid' }, /level: unknown member/],
])('refuses a rule with %s, and names the member', (_, more, message) => {
  expect(() => define(more)).toThrow(message);
});

test('refuses no definition at all', () => {
  expect(() => defineRule(undefined as never)).toThrow('Rule: definition: expected object, got nothing');
});

test.each<[string, () => unknown, string]>([
  ['a promise', () => Promise.resolve({ fires: false }), 'a promise without fires'],
  ['a promise that rejects', () => Promise.reject(new Error('late')), 'a promise without fires'],
  ['nothing', () => undefined, 'nothing without fires'],
  ['true', () => true, 'the boolean true without fires'],
  ['an empty object', () => ({}), 'an object without fires'],
  ['fires as a number', () => ({ fires: 0 }), 'fires: the number 0'],
  ['fires without a reason', () => ({ fires: true, evidence: ['x'] }), 'reason: nothing'],
  ['fires without evidence', () => ({ fires: true, reason: 'r' }), 'evidence: nothing'],
  ['evidence that is text', () => ({ fires: true, reason: 'r', evidence: 'x' }), 'evidence: "x"'],
  ['the status ALLOW', () => ({ fires: true, reason: 'r', evidence: ['x'], status: 'ALLOW' }), 'status: "ALLOW"'],
])('a rule never allows a change by returning %s: the finding is an ERROR that says so', (_, apply, problem) => {
  const evaluate = define({ apply }).evaluate as (input: unknown) => unknown;
  const input = { signature: { validator_id: 'guardian.a_rule' }, diff: { diffSha: '0'.repeat(64) } };
  expect(evaluate(input)).toMatchObject({
    status: 'BLOCK',
    errorClass: 'ErrValidatorBackend',
    reasonCode: 'invalid_outcome',
    reason: `The rule's apply returned ${problem}; it must return {fires: false} or {fires: true, reason, evidence}, and no promise`,
  });
});
