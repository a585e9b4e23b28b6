import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ValidatorResult } from '../../../../policy/contracts/finding';
import { stagingRecord } from '../../../../dev/staging-record';
import { checkExpression } from '../../../../policy/rules/condition/check-expression';
import {
  conditionDefinition,
  CONDITION_ENGINE,
  stagedConditionDefinition,
} from '../../../../policy/rules/condition/condition';
import { diffOf } from '../../validators/fixtures';
import { ruleInput } from '../../../support/rule-input';

const INPUT = 'a'.repeat(64);
const STAGING = 'b'.repeat(64);
const RECORD = stagingRecord({
  tables: [
    { table: 'public.orders', inserted: 1, updated: 3, deleted: 0, touchedSha: null, keyed: true, volatileColumns: [] },
  ],
});
const FACTS = {
  ok: true,
  kind: 'sql',
  parser: { name: 'p', version: '1' },
  dml: [
    { kind: 'update', table: { schema: null, name: 'orders' } },
    { kind: 'delete', table: { schema: 'public', name: 'logs' } },
  ],
};

function evaluate(
  when: string,
  { metadata = {}, facts = FACTS, staged = false }: { metadata?: object; facts?: object; staged?: boolean } = {},
) {
  const definition = staged ? stagedConditionDefinition : conditionDefinition;
  const config = { name: 'mine', when, reason: 'A person must see this.' };
  const input = {
    ...ruleInput({ ...diffOf('SELECT 1', metadata as never), facts: facts as never, config }),
    config,
    inputSha: INPUT,
    staging: staged ? { record: RECORD, sha: STAGING } : null,
  };
  return ValidatorResult.parse(definition.evaluate?.(input));
}

test.each([
  ['metadata.affected_rows > 1000', { affected_rows: 1001 }, 'BLOCK'],
  ['metadata.affected_rows > 1000', { affected_rows: 1000 }, 'ALLOW'],
  ['metadata.affected_rows == 3', { affected_rows: 3 }, 'BLOCK'],
  ['metadata.ratio > 0.5', { ratio: 0.75 }, 'BLOCK'],
  ['has(metadata.ticket) && metadata.ticket.matches("^OPS-[0-9]+$")', { ticket: 'OPS-7' }, 'BLOCK'],
  ['!has(metadata.ticket)', {}, 'BLOCK'],
  ['"ticket" in metadata', { ticket: null }, 'BLOCK'],
  ['has(metadata.ticket)', { ticket: null }, 'BLOCK'],
  ['"toString" in metadata', {}, 'ALLOW'],
  [`false${' || false'.repeat(200)}`, {}, 'ALLOW'],
  [`${'!'.repeat(1900)}false`, {}, 'ALLOW'],
  ['facts.dml.exists(d, d.kind == "delete" && d.table.name in ["logs", "audit"])', {}, 'BLOCK'],
  ['facts.dml.all(d, d.kind == "update")', {}, 'ALLOW'],
  ['size(facts.dml) > 5 ? true : false', {}, 'ALLOW'],
  ['diff.bytes > 3 && diff.sourceTool == "SQLDryRun"', {}, 'BLOCK'],
])('%s with %j is %s', (when, metadata, status) => {
  const result = evaluate(when, { metadata });
  expect(result.status).toBe(status);
  expect(result.errorClass).toBeUndefined();
});

test('a member of the facts that is undefined is absent, as in JSON', () => {
  const facts = { ...FACTS, nested: { x: undefined } };
  expect(evaluate('has(facts.nested.x) || "x" in facts.nested || size(facts.nested) > 0', { facts }).status).toBe(
    'ALLOW',
  );
  expect(evaluate('facts.nested.x == 1', { facts })).toMatchObject({ status: 'BLOCK', errorClass: expect.anything() });
});

test('reads the staging record if it runs after the dry run', () => {
  expect(evaluate('staging.rows > 3', { staged: true })).toMatchObject({
    status: 'BLOCK',
    evidenceRefs: [`staging:${STAGING}#/rows`],
  });
  expect(evaluate('staging.tables.exists(t, t.deleted > 0)', { staged: true }).status).toBe('ALLOW');
  expect(
    conditionDefinition.config.safeParse({ name: 'mine', when: 'staging.rows > 3', reason: 'r' }).error?.issues[0]
      ?.message,
  ).toMatch(/staged: true/);
});

test('a finding has evidence for what the expression read', () => {
  expect(
    evaluate('metadata.affected_rows > 1 && facts.kind == "sql"', { metadata: { affected_rows: 2 } }),
  ).toMatchObject({
    reason: 'A person must see this.',
    reasonCode: 'condition_met',
  });
  expect(evaluate('metadata.affected_rows > 1', { metadata: { affected_rows: 2 } }).evidenceRefs).toEqual([
    `metadata:${INPUT}#/affected_rows`,
  ]);
});

test.each([
  ['a missing member', 'metadata.affected_rows > 1', {}, 'field "affected_rows" does not exist'],
  ['another type', 'metadata.affected_rows > 1', { affected_rows: 'many' }, 'the evaluation failed'],
  ['a number as result', 'metadata.affected_rows', { affected_rows: 1 }, 'neither true nor false'],
  ['the string "true"', 'metadata.ok', { ok: 'true' }, 'neither true nor false'],
  ['null', 'metadata.ok', { ok: null }, 'neither true nor false'],
  ['division by zero', '1 / metadata.n > 0', { n: 0 }, 'the evaluation failed'],
  ['an inherited member', 'metadata.constructor == 1', {}, 'field "constructor" does not exist'],
])('blocks with an error class, which no callback can resolve: %s', (_what, when, metadata, why) => {
  expect(evaluate(when, { metadata })).toMatchObject({
    status: 'BLOCK',
    errorClass: 'ErrValidatorBackend',
    reasonCode: 'condition_undecided',
    reason: expect.stringContaining(why) as string,
  });
});

test('blocks if the diff cannot be parsed, because the facts are missing', () => {
  expect(
    evaluate('facts.dml.size() == 0', { facts: { ok: false, code: 'syntax_error', message: '', span: null } }),
  ).toMatchObject({ status: 'BLOCK', errorClass: 'ErrValidatorBackend' });
});

test('blocks if a list or text exceeds its limit, without long computation', () => {
  const started = process.cpuUsage();
  expect(evaluate('metadata.xs.exists(x, x == 1)', { metadata: { xs: Array(2001).fill(0) } })).toMatchObject({
    status: 'BLOCK',
    errorClass: 'ErrValidatorBackend',
  });
  expect(
    evaluate('metadata.xs.exists(x, metadata.xs.exists(y, x + y == 1))', { metadata: { xs: Array(201).fill(0) } }),
  ).toMatchObject({ errorClass: 'ErrValidatorBackend' });
  expect(
    evaluate('metadata.xs.exists(x, metadata.xs.exists(y, x + y == 1))', { metadata: { xs: Array(200).fill(0) } })
      .status,
  ).toBe('ALLOW');
  expect(evaluate('metadata.t == "x"', { metadata: { t: 'y'.repeat(4097) } })).toMatchObject({
    errorClass: 'ErrValidatorBackend',
  });
  expect(evaluate('metadata.a == 1', { metadata: { a: 2, rationale: 'y'.repeat(9000) } }).status).toBe('ALLOW');
  expect(process.cpuUsage(started).user / 1000).toBeLessThan(30_000);
});

test('an error never quotes a value of the diff', () => {
  const result = evaluate('int(metadata.secret) > 1', { metadata: { secret: 'hunter2' } });
  expect(result.status).toBe('BLOCK');
  expect(JSON.stringify(result)).not.toContain('hunter2');
});

describe('is rejected when the bundle is compiled', () => {
  const deep = '('.repeat(33) + 'true' + ')'.repeat(33);
  test.each([
    ['not CEL', 'metadata.a >'],
    ['blank text', ' '],
    ['an unknown name', 'request.user == "x"'],
    ['an unknown function', 'exec("rm")'],
    ['an unknown method', 'metadata.a.toLowerCase() == "x"'],
    ['a message of another type', 'google.protobuf.Struct{} == metadata'],
    ['deep brackets', deep],
    ['very deep brackets', '['.repeat(900)],
    ['too long', `"${'x'.repeat(2000)}" == ""`],
    ['three nested comprehensions', 'facts.a.all(x, facts.b.all(y, facts.c.all(z, x == z)))'],
    ['a comprehension over a sum', '(facts.a + facts.a).all(x, x > 1)'],
    ['a comprehension over a conditional', '(true ? facts.a : facts.b).all(x, x > 1)'],
    ['a pattern from the diff', 'metadata.a.matches(metadata.b)'],
    ['a pattern that RE2 rejects', 'metadata.a.matches("(?=x)")'],
    ['a pattern with a backspace, where a word boundary is meant', String.raw`metadata.a.matches('\bGRANT\b')`],
  ])('%s, without an evaluation', (_what, when) => {
    const started = process.cpuUsage();
    expect(checkExpression(when).ok).toBe(false);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(5000);
    expect(conditionDefinition.config.safeParse({ name: 'mine', when, reason: 'r' }).success).toBe(false);
  });

  test('and a forged plan that skipped this check blocks', () => {
    expect(evaluate('exec("rm")')).toMatchObject({ status: 'BLOCK', errorClass: 'ErrValidatorBackend' });
  });
});

test('names the installed version of the engine', () => {
  const installed = JSON.parse(
    readFileSync(join(__dirname, '../../../../node_modules/@bufbuild/cel/package.json'), 'utf8'),
  ) as { version: string };
  expect(CONDITION_ENGINE.version).toBe(installed.version);
});
