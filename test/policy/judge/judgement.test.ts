import fc from 'fast-check';
import { ValidatorResult } from '../../../policy/contracts/finding';
import { conclude, rank } from '../../../policy/judge/conclude';
import { makeDocument, type JudgeDocument } from '../../../policy/judge/document';
import { humanText } from '../../../policy/judge/human-text';
import { judge, type AnsweredPiece } from '../../../policy/judge/judgement';
import { addUsage, costMicros, NO_USAGE } from '../../../policy/judge/record';
import { sqlRenderer } from '../../../source-tools/sql/render';
import type { WireAnswer } from '../../../policy/judge/wire';

const SHA = 'd'.repeat(64);

function documentOf(text: string): JudgeDocument {
  const made = makeDocument({
    maxBytes: 2 ** 20,
    raw: new TextEncoder().encode(text),
    metadata: {},
    renderer: sqlRenderer,
    metadataKeys: [],
    proseKeys: null,
  });
  if (!made.ok) throw new Error(made.reason);
  return made.document;
}

const row = fc.record({
  policyId: fc.constantFrom('a', 'b', 'c'),
  result: fc.constantFrom('clear' as const, 'violated' as const, 'unsure' as const),
  severity: fc.constantFrom('WARN' as const, 'BLOCK' as const),
  lines: fc.array(fc.integer({ min: -3, max: 9 }), { maxLength: 5 }),
  quote: fc.string({ maxLength: 20 }),
  why: fc.string({ maxLength: 60 }),
});
const answer: fc.Arbitrary<WireAnswer> = fc.record({
  observations: fc.array(fc.record({ line: fc.integer({ min: -1, max: 9 }), effect: fc.string({ maxLength: 20 }) }), {
    maxLength: 3,
  }),
  policyResults: fc.uniqueArray(row, { minLength: 1, maxLength: 3, selector: (r) => r.policyId }),
  instructionsInDiff: fc.boolean(),
  canary: fc.constant('x'),
  verdict: fc.constantFrom('ALLOW' as const, 'WARN' as const, 'BLOCK' as const, 'ABSTAIN' as const),
  confidence: fc.constantFrom('low' as const, 'medium' as const, 'high' as const),
});
const document = documentOf('UPDATE a SET b = 1;\nUPDATE c SET d = 2;\nDELETE FROM e;');
const run = (pieces: readonly AnsweredPiece[], markers: readonly string[] = []) =>
  judge({
    validatorId: 'guardian.llm_judge',
    validatorVersion: 'v1',
    model: 'm',
    diffSha: SHA,
    document,
    pieces,
    markers,
    bytes: 9,
  });
const whole = { first: 0, last: 2, context: [] };
const asPiece = (a: WireAnswer): AnsweredPiece => ({ piece: whole, answer: a });

describe('judge', () => {
  it('returns the strictest status of all answers and always a valid result', () => {
    fc.assert(
      fc.property(fc.array(answer, { minLength: 1, maxLength: 4 }), (answers) => {
        const { result } = run(answers.map((a) => asPiece(a)));
        const strictest = Math.max(...answers.map((a) => rank(conclude(a).status)));
        expect(rank(result.status)).toBe(strictest);
        expect(ValidatorResult.parse(result)).toEqual(result);
        for (const a of answers) {
          if (a.verdict !== 'ALLOW' || a.instructionsInDiff || a.policyResults.some((r) => r.result !== 'clear'))
            expect(result.status).not.toBe('ALLOW');
        }
      }),
      { numRuns: 500 },
    );
  });

  it('does not become weaker by another answer or a marker', () => {
    fc.assert(
      fc.property(answer, answer, (a, b) => {
        const alone = rank(run([asPiece(a)]).result.status);
        expect(rank(run([asPiece(a), asPiece(b)]).result.status)).toBeGreaterThanOrEqual(alone);
        expect(rank(run([asPiece(a)], ['override']).result.status)).toBeGreaterThanOrEqual(Math.max(alone, 1));
      }),
      { numRuns: 300 },
    );
  });

  it('gives every WARN and BLOCK evidence in existing lines, or the complete piece if the model named no line', () => {
    fc.assert(
      fc.property(answer, (a) => {
        const { result } = run([asPiece(a)]);
        if (result.status === 'ALLOW') return;
        expect(result.evidenceRefs.length).toBeGreaterThan(0);
        for (const ref of result.evidenceRefs) {
          const match = /^diff:d{64}#L(\d+):C\d+-L(\d+):C\d+$/.exec(ref);
          expect(Number(match?.[1])).toBeGreaterThanOrEqual(1);
          expect(Number(match?.[2])).toBeLessThanOrEqual(3);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('computes the score as the share of clear policies', () => {
    const rows = (['clear', 'clear', 'unsure', 'violated'] as const).map((result, i) => ({
      policyId: `p${i}`,
      result,
      severity: 'WARN' as const,
      lines: [],
      quote: '',
      why: '',
    }));
    const base = {
      observations: [],
      instructionsInDiff: false,
      canary: 'x',
      verdict: 'ALLOW' as const,
      confidence: 'low' as const,
    };
    expect(conclude({ ...base, policyResults: rows })).toMatchObject({
      score: 0.5,
      status: 'WARN',
      reasonCode: 'judge_warn',
    });
    expect(run([asPiece({ ...base, policyResults: rows })]).verdict).toMatchObject({
      approved: false,
      severity: 'warn',
      score: 0.5,
    });
  });
});

describe('humanText', () => {
  it.each([
    ['a terminal escape', '\u001b[31mred\u001b[0m', '\u27e6U+001B\u27e7(31mred\u27e6U+001B\u27e7(0m'],
    ['a link and an image', '![x](http://a) [y](javascript:b)', '!(x)(http://a) (y)(javascript:b)'],
    ['markup', '<script>alert(1)</script>', '\u2039script\u203aalert(1)\u2039/script\u203a'],
    ['lines', 'a\nb\tc', 'a b c'],
    ['bidirectional text', 'a\u202eb', 'a\u27e6U+202E\u27e7b'],
  ])('neutralizes %s', (_, text, shown) => {
    expect(humanText(text, 500)).toBe(shown);
  });

  it('truncates to the limit', () => {
    expect(humanText('x'.repeat(1000), 10)).toBe(`${'x'.repeat(9)}\u2026`);
  });
});

describe('costMicros', () => {
  const prices = { m: { input: 100_000, cachedInput: 10_000, output: 1_000_000 } };
  it('charges cached input at its own price and rounds up', () => {
    expect(costMicros(prices, 'm', { input: 1001, cachedInput: 1000, output: 1, reasoning: 0 })).toBe(12);
  });
  it('is unknown, not zero, for an unknown model or an unknown count', () => {
    expect(costMicros(prices, 'toString', NO_USAGE)).toBeNull();
    expect(costMicros(prices, 'm', { ...NO_USAGE, output: null })).toBeNull();
    expect(addUsage(NO_USAGE, { ...NO_USAGE, input: null }).input).toBeNull();
  });
});
