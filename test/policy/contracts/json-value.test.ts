import fc from 'fast-check';
import { Metadata, Submission } from '../../../policy/contracts/diff';
import { ValidatorFinding, ValidatorResult } from '../../../policy/contracts/finding';
import { Json, JsonObject } from '../../../policy/contracts/json-value';
import { resultOf } from '../../support/plan';

const refuses = (schema: { safeParse: (v: unknown) => { success: boolean } }, value: unknown): void =>
  expect(schema.safeParse(value).success).toBe(false);
const deep = (n: number): unknown => JSON.parse('['.repeat(n) + ']'.repeat(n));

test('any JSON value is copied unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      if (JSON.stringify(value).includes('__proto__')) return;
      const copy = Json.parse(value);
      expect(copy).toEqual(value);
      if (typeof value === 'object' && value !== null) expect(copy).not.toBe(value);
    }),
  );
});

test('refuses values that JSON cannot represent', () => {
  class Point {
    x = 1;
  }
  for (const value of [undefined, Number.NaN, 1n, new Date(), new Point(), new Map(), () => 1, Symbol('s')]) {
    refuses(Json, value);
    refuses(Json, [value]);
    refuses(JsonObject, { a: value });
  }
  // oxlint-disable-next-line no-sparse-arrays
  refuses(Json, [1, , 2]);
  for (const value of [null, 'a', 1, []]) refuses(JsonObject, value);
});

test('refuses a member named __proto__: the parser would drop it or change the prototype', () => {
  const value: unknown = JSON.parse('{"__proto__": {"a": 1}}');
  refuses(Json, value);
  refuses(JsonObject, value);
  refuses(Metadata, value);
  refuses(JsonObject, { details: [value] });
  const submission = { tenant: 't', target: 'shop', sourceTool: 'SQLDryRun', diffSha: 'a'.repeat(64) };
  const sent = JSON.parse(`${JSON.stringify(submission).slice(0, -1)},"__proto__":{"target":"other"}}`) as unknown;
  expect(Submission.safeParse(submission).success).toBe(true);
  refuses(Submission, sent);
});

test('refuses nesting that could not be hashed, and never overflows the stack', () => {
  expect(Json.safeParse(deep(150)).success).toBe(true);
  for (const nested of [5_000, 200_000].map(deep)) {
    refuses(Json, nested);
    refuses(Metadata, { a: nested });
    refuses(ValidatorResult, { ...resultOf('guardian.a', 'BLOCK'), details: { a: nested } });
  }
});

test('member names of metadata have 1 to 128 characters', () => {
  expect(Metadata.safeParse({ ['k'.repeat(128)]: 1 }).success).toBe(true);
  for (const name of ['', 'k'.repeat(129)]) refuses(Metadata, { [name]: 1 });
});

test('two parsed submissions do not share the default metadata object', () => {
  const submission = { tenant: 't', target: 'shop', sourceTool: 'SQLDryRun', diffSha: 'a'.repeat(64) };
  expect(Submission.parse(submission).metadata).not.toBe(Submission.parse(submission).metadata);
});

test('a finding made from any valid result is valid under the schema of findings [G10]', () => {
  const result: Record<string, unknown> = {
    ...resultOf('guardian.a', 'BLOCK', {
      reasonCode: 'code',
      errorClass: 'ErrTimeout',
      reproducible: false,
      recommendedActions: ['split it'],
      details: { rule: { n: [1, 'x', null] } },
    }),
  };
  const of = { phase: 'preflight', class: 'POLICY', logic_hash: 'a'.repeat(64) };
  const odd = fc.oneof(
    fc.constantFrom<unknown>(
      '',
      'ALLOW',
      'WARN',
      'SKIPPED',
      'x'.repeat(4_000),
      'x'.repeat(4_001),
      [],
      ['x'.repeat(500)],
    ),
    fc.jsonValue(),
  );
  const change = fc.record({
    name: fc.constantFrom(...Object.keys(result), 'approved', 'phase'),
    away: fc.boolean(),
    to: odd,
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 3 }), (changes) => {
      const sent = { ...result };
      for (const { name, away, to } of changes) {
        if (away) delete sent[name];
        else sent[name] = to;
      }
      const parsed = ValidatorResult.safeParse(sent);
      if (parsed.success) expect(ValidatorFinding.safeParse({ ...parsed.data, ...of }).success).toBe(true);
    }),
    { numRuns: 500 },
  );
});
