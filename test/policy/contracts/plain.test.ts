import fc from 'fast-check';
import { Submission } from '../../../policy/contracts/diff';
import { ValidatorFinding, ValidatorResult } from '../../../policy/contracts/finding';
import { json, read, recordOf, strict, text, withDefault, type Reader } from '../../../policy/contracts/plain';
import { readResult } from '../../../policy/contracts/plain-result';
import { readSubmission, readSupersede, readWithdraw } from '../../../policy/contracts/plain-submission';
import { SupersedeMessage, WithdrawMessage } from '../../../policy/contracts/withdrawal';
import { resultOf } from '../../support/plan';

/** The sandbox reads by plain checks what the doors read by schemas: both must say yes to the same values, and make the same of them. */

const A = 'a'.repeat(64);
const envelope = { payloadType: 'application/json', payload: 'QUJD', signatures: [{ keyid: 'k', sig: 'QUJD' }] };
const submission = {
  tenant: 'default',
  target: 'shop',
  sourceTool: 'SQLDryRun',
  diffSha: A,
  metadata: { table_name: 'items', affected_rows: 1, nested: { deep: [1, null, { x: true }] } },
  requestKey: 'again',
  inline: 'QUJD',
  envelope,
  replyTo: { workflowId: 'w', runId: 'r' },
  supersedes: A,
};
const result = resultOf('guardian.a', 'BLOCK', {
  reasonCode: 'code',
  errorClass: 'ErrTimeout',
  reproducible: false,
  recommendedActions: ['split it'],
  details: { rule: { n: [1, 'x', null] } },
});

interface Twin {
  readonly reader: Reader<unknown>;
  readonly schema: { safeParse: (value: unknown) => { success: boolean; data?: unknown } };
  readonly valid: Readonly<Record<string, unknown>>;
}
const TWINS: readonly (readonly [string, Twin])[] = [
  ['a submission', { reader: readSubmission, schema: Submission, valid: submission }],
  ['a result', { reader: readResult, schema: ValidatorResult, valid: { ...result } }],
  ['withdraw', { reader: readWithdraw, schema: WithdrawMessage, valid: { actor: 'alice', reason: 'no' } }],
  ['supersede', { reader: readSupersede, schema: SupersedeMessage, valid: { by: A, actor: 'alice', reason: 'no' } }],
];

/** Values at and beyond each bound. */
const EDGES: readonly unknown[] = [
  ...[0, 1, 4, 10, 11, 50, 51, 64, 65, 100, 101, 128, 129, 200, 201, 500, 501, 1000, 1001].flatMap((n) => [
    'x'.repeat(n),
    Array(n).fill('x'),
    ['x'.repeat(n)],
    { ['k'.repeat(n)]: 1 },
    { workflowId: 'w'.repeat(n) },
    { workflowId: 'w', runId: 'r'.repeat(n) },
    { ...envelope, payloadType: 'x'.repeat(n) },
    { ...envelope, signatures: [{ keyid: 'x'.repeat(n), sig: 'QUJD' }] },
  ]),
  ...[0, 2000, 2001, 4000, 4001, 4096, 4100, 16_384, 87_384, 87_388, 262_144, 262_148].flatMap((n) => [
    'A'.repeat(n),
    { ...envelope, payload: 'A'.repeat(n) },
    { ...envelope, signatures: [{ keyid: 'k', sig: 'A'.repeat(n) }] },
  ]),
  ...[0, 1, 4, 5].map((n) => ({ ...envelope, signatures: Array(n).fill(envelope.signatures[0]) })),
  ...[
    '',
    'a b',
    '.x',
    'A==',
    'AA==',
    'AAA',
    '=',
    'ALLOW',
    'WARN',
    'BLOCK',
    'SKIPPED',
    'ErrTimeout',
    A,
    A.toUpperCase(),
  ],
  { a: 'x'.repeat(16_376) },
  { a: 'x'.repeat(16_377) },
  { a: '\ud800' },
  { ...envelope, extra: 1 },
  { workflowId: 'w', extra: 1 },
  [1],
  [[]],
  ...[undefined, null, true, false, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY],
];
const odd = fc.oneof(fc.constantFrom(...EDGES), fc.jsonValue());

/** The valid value with up to three of its members, or of its members' members, taken away, replaced or added. */
function mutated(valid: Readonly<Record<string, unknown>>): fc.Arbitrary<unknown> {
  const names = [...Object.keys(valid), 'approved', 'phase'];
  const change = fc.record({ name: fc.constantFrom(...names), away: fc.boolean(), to: odd });
  return fc.array(change, { maxLength: 3 }).map((changes) => {
    const made: Record<string, unknown> = { ...valid };
    for (const { name, away, to } of changes) {
      if (away) delete made[name];
      else made[name] = to;
    }
    return made;
  });
}

test.each(TWINS)(
  '%s is read alike by the plain check and by the schema, whatever is sent',
  (_, { reader, schema, valid }) => {
    const alike = (value: unknown): void => {
      const plain = read(reader, value, 'value');
      const parsed = schema.safeParse(value);
      expect(plain.ok).toBe(parsed.success);
      if (plain.ok) expect(plain.value).toEqual(parsed.data);
    };
    expect(read(reader, valid, 'value').ok).toBe(true);
    for (const name of [...Object.keys(valid), 'phase']) {
      const { [name]: _away, ...rest } = valid;
      alike(rest);
      for (const edge of EDGES) alike({ ...valid, [name]: edge });
    }
    fc.assert(fc.property(fc.oneof({ arbitrary: mutated(valid), weight: 20 }, odd), alike), { numRuns: 500 });
  },
);

test('what a result may hold, a finding may hold: the finding made of any result fits its own schema [G10]', () => {
  const of = { phase: 'preflight', class: 'POLICY', logic_hash: A };
  fc.assert(
    fc.property(mutated({ ...result }), (value) => {
      const plain = read(readResult, value, 'result');
      if (plain.ok) expect(ValidatorFinding.safeParse({ ...plain.value, ...of }).success).toBe(true);
    }),
    { numRuns: 500 },
  );
});

describe('an issue', () => {
  const issuesOf = (value: unknown): readonly { field: string; message: string }[] => {
    const made = read(readSubmission, value, 'submission');
    return made.ok ? [] : made.issues;
  };
  test('names the member by its whole path, what was expected, and what kind of thing came', () => {
    const broken = { ...submission, tenant: '', envelope: { ...envelope, signatures: [{ keyid: 7, sig: 'QUJD' }] } };
    expect(issuesOf(broken)).toEqual([
      { field: 'tenant', message: 'expected 1 to 63 of A-Z a-z 0-9 . _ -, got a text of 0 characters' },
      { field: 'envelope.signatures.0.keyid', message: 'expected a text of 1 to 200 characters, got 7' },
    ]);
    expect(issuesOf(null)).toEqual([{ field: 'submission', message: 'expected an object, got null' }]);
    expect(issuesOf({ ...submission, plan: {} })).toEqual([{ field: 'plan', message: 'no such member is known' }]);
  });
  test('never repeats a text that was sent, however short [P12]', () => {
    const secret = 'hunter2';
    const broken = { ...submission, diffSha: secret, sourceTool: [secret], metadata: secret, inline: `${secret}!` };
    expect(issuesOf(broken)).toHaveLength(4);
    expect(JSON.stringify(issuesOf(broken))).not.toContain(secret);
  });
});

test('a member called __proto__ is refused: as a name it would vanish, and as a value change what is read', () => {
  for (const reader of [json, recordOf(json), strict<{ a?: unknown }>({ a: { reader: json } })])
    expect(read<unknown>(reader, JSON.parse('{"__proto__": {"a": 1}}'), 'value').ok).toBe(false);
});

test('nesting that could not be hashed is refused, and no depth ends the process', () => {
  const deep = (n: number): unknown => JSON.parse('['.repeat(n) + ']'.repeat(n));
  expect(read(json, deep(150), 'value').ok).toBe(true);
  expect(read(json, deep(5_000), 'value').ok).toBe(false);
});

test('two values that were read share no default', () => {
  const reader = strict<{ a: object }>({ a: withDefault(recordOf(text()), () => ({})) });
  const [first, second] = [read(reader, {}, 'a'), read(reader, {}, 'b')];
  expect(first.ok && second.ok && first.value.a !== second.value.a).toBe(true);
});
