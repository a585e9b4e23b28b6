import fc from 'fast-check';
import type { DiffInput } from '../../../policy/contracts/diff';
import { Severity, Verdict } from '../../../policy/contracts/verdict';
import { alwaysApprove } from '../../../compat/flyto/validated-tool';
import { diffSizeRule } from '../../../policy/validators/diff-size-rule';
import { patternRule } from '../../../policy/validators/pattern-rule';
import { ruleValidator } from '../../../policy/validators/rule-validator';
import { tableWhitelistRule } from '../../../policy/validators/table-whitelist-rule';

const RULES = [
  diffSizeRule({ name: 'size', maxRows: 5 }),
  tableWhitelistRule({ name: 'tables', allowed: ['orders'] }),
  patternRule({ name: 'pattern', forbidden: ['(?i)drop'] }),
];

/** Arbitrary bytes with arbitrary metadata. */
const diff: fc.Arbitrary<DiffInput> = fc.record({
  sourceTool: fc.constantFrom('SQLDryRun', 'HTTPPatch', ''),
  raw: fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc.constantFrom('DROP TABLE t', '{"a":"\\u0044ROP"}', '').map((text) => new TextEncoder().encode(text)),
  ),
  diffSha: fc.constant('a'.repeat(64)),
  metadata: fc.dictionary(
    fc.constantFrom('affected_rows', 'table_name', 'x'),
    fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<DiffInput['metadata'][string]>,
  ),
});

test('a rule is pure: it returns the same result twice, does not change its input, and never throws [F24]', () => {
  fc.assert(
    fc.property(diff, (input) => {
      const before = structuredClone(input);
      for (const rule of RULES) expect(rule.apply(input)).toEqual(rule.apply(input));
      expect(input).toEqual(before);
    }),
    { numRuns: 200 },
  );
});

test('the result of a rule has approved, a severity, and a reason if it does not approve [F26]', () => {
  let refusals = 0;
  fc.assert(
    fc.property(diff, (input) => {
      for (const result of RULES.map((rule) => rule.apply(input))) {
        expect([typeof result.approved, Severity.safeParse(result.severity).success]).toEqual(['boolean', true]);
        if (result.approved) continue;
        refusals++;
        expect(result.reason).not.toBe('');
        expect(result.severity).not.toBe('');
      }
    }),
    { numRuns: 200 },
  );
  expect(refusals).toBeGreaterThan(20);
});

test('a validator has a name and one method, which maps a diff to a verdict with that name [F1]', async () => {
  for (const validator of [ruleValidator('rules', 'p1', ...RULES), alwaysApprove()]) {
    const input = { sourceTool: 'x', raw: new Uint8Array(), diffSha: 'a'.repeat(64), metadata: {} };
    const verdict = Verdict.parse(await validator.validate({}, input));
    expect([validator.name(), verdict.validatorName]).toEqual([validator.name(), validator.name()]);
  }
});
