import { checkExpression } from '../../../../policy/rules/condition/check-expression';
import { conditionDefinition } from '../../../../policy/rules/condition/condition';
import { staticResult } from '../../../../policy/rules/condition/static-result';
import { ruleInput } from '../../../support/rule-input';
import { diffOf } from '../../validators/fixtures';

const FACTS = { ok: true, kind: 'sql', parser: { name: 'p', version: '1' }, dml: [{ kind: 'update' }], tables: [] };

/** What the condition gives for a change of SQLDryRun. */
function evaluated(when: string): boolean | 'error' {
  const config = { name: 'mine', when, reason: 'A person must see this.' };
  const diff = diffOf('SELECT 1', { n: 5, text: 'a' } as never);
  const input = {
    ...ruleInput({ ...diff, facts: FACTS as never, config }),
    config,
    inputSha: 'a'.repeat(64),
    staging: null,
  };
  const result = conditionDefinition.evaluate?.(input);
  if (result === undefined) throw new Error('The condition has no evaluate');
  return result.errorClass === undefined ? result.status === 'BLOCK' : 'error';
}

it.each([
  ['false', false],
  ['1 > 2', false],
  ['1 < 2', true],
  ['diff.bytes < 0', false],
  ['diff.bytes >= 0', true],
  ['diff.bytes > 5000000', false],
  ['size(facts.dml) < 0', false],
  ['facts.dml.size() >= 0', true],
  ['diff.sourceTool == "GitPatch"', false],
  ['diff.sourceTool in ["GitPatch", "HTTPPatch"]', false],
  ['diff.sourceTool == "SQLDryRun" || metadata.n > 3', true],
  ['diff.bytes > 3 && diff.sourceTool == "sqldryrun"', false],
  ['true ? false : metadata.n > 3', false],
  ['!(2 == 2.0)', false],
])('%s is %s for every change', (when, result) => {
  expect(staticResult(when, 'SQLDryRun')).toEqual({ result, problems: [] });
  expect(evaluated(when)).toBe(result);
});

it.each([
  ['metadata.n > 100 && metadata.n < 5', '`metadata.n`'],
  ['diff.bytes > 10 && diff.bytes <= 10', '`diff.bytes`'],
  ['5 > metadata.n && 5 < metadata.n', '`metadata.n`'],
  ['metadata.text == "a" && facts.ok && metadata.text == "b"', '`metadata.text`'],
])('no change fulfils %s', (when, of) => {
  const found = staticResult(when, 'SQLDryRun');
  expect(found).toEqual({ result: false, problems: [`no value of ${of} fulfils all of the comparisons`] });
  expect(evaluated(when)).toBe(false);
});

it.each([
  ['diff.bytes', 'other', []],
  ['"abc"', 'other', []],
  ['1 + 1', 'other', []],
  ['facts.dml.map(d, d.kind)', 'other', []],
  ['"a" > 1', null, ['`"a" > 1` always fails, which blocks the change: it is applied to text and a whole number']],
  ['!diff.bytes', null, ['`!diff.bytes` always fails, which blocks the change: it is applied to a whole number']],
  [
    'size(diff.bytes) > 2',
    null,
    ['`size(diff.bytes)` always fails, which blocks the change: it is applied to a whole number'],
  ],
  ['diff.sourceTool && true', null, ['`diff.sourceTool` is text, where true or false is needed']],
  ['diff.bytes ? true : false', null, ['`diff.bytes` is a whole number, where true or false is needed']],
  [
    'diff.bytes * 1.5 > 100.0',
    null,
    [
      '`diff.bytes * 1.5` always fails, which blocks the change: it is applied to a whole number and a number with a fraction',
    ],
  ],
  [
    'metadata > 3',
    null,
    ['`metadata > 3` always fails, which blocks the change: it is applied to an object and a whole number'],
  ],
  ['diff.sourceTool.name == "a"', null, ['`diff.sourceTool` is text and has no member "name"']],
  [
    'facts.dml.exists(d, size(diff.bytes) > 1)',
    null,
    ['`size(diff.bytes)` always fails, which blocks the change: it is applied to a whole number'],
  ],
])('%s always fails', (when, result, problems) => {
  expect(staticResult(when, 'SQLDryRun')).toEqual({ result, problems });
  expect(evaluated(when)).toBe('error');
});

it('finds a comparison of different types, which no value fulfils', () => {
  const never = '`diff.bytes == "100"` compares a whole number with text: these are never equal';
  expect(staticResult('diff.bytes == "100"', 'SQLDryRun')).toEqual({ result: false, problems: [never] });
  expect(staticResult('has(metadata.n) && (diff.bytes == "100" || metadata.n > 3)', 'SQLDryRun')).toEqual({
    result: null,
    problems: [never],
  });
  expect(staticResult('diff.sourceTool != null', 'SQLDryRun')).toMatchObject({
    result: true,
    problems: [expect.any(String)],
  });
});

it.each([
  'metadata.affected_rows > 1000',
  'has(metadata.affected_rows) && metadata.affected_rows > 1000',
  'metadata.n >= 5 && metadata.n <= 5',
  'metadata.n > 1 && metadata.m < 1',
  'diff.bytes > 1000',
  'diff.bytes > 1.5',
  'facts.dml.exists(d, d.kind == "update") && staging.rows > 100',
  'facts.dml.filter(d, d.kind == "update").size() > 3 && facts.dml.filter(d, d.kind == "delete").size() < 2',
  'size(facts.dml) > 5 ? true : false',
  'metadata.text.matches("^OPS-[0-9]+$")',
  '"ticket" in metadata',
  'metadata == {}',
  '!has(metadata.ticket)',
  'facts.kind == "sql" && facts.ok',
  'type(metadata.n) == int && int(metadata.n) > 3',
  'metadata.list[0] == "a" || metadata["n"] == 3',
  '[metadata.n, 3].exists(x, x > 2)',
  'facts.dml.exists_one(d, d.kind == "update") || facts.dml.all(d, d.kind != "x")',
  'string(diff.bytes) + metadata.text == "1a"',
  '(metadata.n > 3 ? 1 : 2) == 1',
])('%s depends on the change', (when) => {
  expect(checkExpression(when).ok).toBe(true);
  expect(staticResult(when, 'SQLDryRun')).toEqual({ result: null, problems: [] });
});
