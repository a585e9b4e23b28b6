import fc from 'fast-check';
import type { BreakerSample } from '../../../policy/contracts/readings';
import { verdictStatus } from '../../../policy/contracts/verdict';
import { breakerSample } from '../../../policy/contracts/readings';
import {
  BREAKER_PARAMETERS as P,
  CLOSED,
  meanWeight,
  phaseAt,
  passes,
  reserve,
  SAMPLE_WEIGHT,
  addSample,
  windowAt,
  type Breaker,
  type Sampled,
} from '../../../policy/decide/breaker';
import {
  MAX_VALIDATORS,
  NO_BREAKERS,
  packBreakers,
  phaseOf,
  PackedBreakers,
  reserveProbe,
  resetBreakers,
  addReview,
  unpackBreakers,
  viewAt,
  type Breakers,
} from '../../../policy/decide/breakers';
import { breakerSamples } from '../../../policy/decide/breaker-samples';
import { sha256Hex } from '../../../policy/contracts/hash';

const IDS = Array.from({ length: 1_000 }, (_, n) => sha256Hex(new TextEncoder().encode(String(n))));
const id = (n: number): string => IDS[n] ?? '';

/** A series of samples, one per second. */
function fed(kinds: readonly BreakerSample[]): Breaker {
  return kinds.reduce<Breaker>((b, sample, i) => addSample(b, { changeId: id(i), at: i * 1000, sample }, P), CLOSED);
}
const times = (n: number, sample: BreakerSample): BreakerSample[] => Array<BreakerSample>(n).fill(sample);

describe('parameters', () => {
  test('ten samples with a mean weight of one half open it, nine never do', () => {
    expect(fed(times(9, 'failure')).state).toBe('closed');
    expect(fed(times(10, 'failure')).state).toBe('open');
    expect(fed([...times(5, 'success'), ...times(5, 'failure')]).state).toBe('open');
    expect(fed([...times(6, 'success'), ...times(5, 'failure')]).state).toBe('closed');
  });

  test('a failure weighs 1, a warning 0.25, a success 0: warnings alone never open it [F18, T41]', () => {
    expect(SAMPLE_WEIGHT).toEqual({ failure: 1, warn: 0.25, success: 0 });
    expect(fed(times(50, 'warn')).state).toBe('closed');
    expect(fed([...times(6, 'warn'), ...times(3, 'failure'), 'success']).state).toBe('closed');
    expect(fed([...times(6, 'warn'), ...times(4, 'failure')]).state).toBe('open');
  });

  test('an opt-out counts as a clean success, an unapproved verdict without severity as a warning [F36, T18]', () => {
    expect(breakerSample(verdictStatus({ approved: true, severity: '' }))).toBe('success');
    expect(breakerSample(verdictStatus({ approved: false, severity: '' }))).toBe('warn');
  });

  test('only the last 50 samples of the last 10 minutes count', () => {
    const old = fed(times(9, 'failure'));
    const late = { changeId: id(99), at: 8_000 + P.windowMs + 1, sample: 'failure' } as const;
    expect(addSample(old, late, P).state).toBe('closed');
    expect(addSample(old, { ...late, at: P.windowMs }, P).state).toBe('open');
    const long = fed([...times(60, 'success')]);
    expect(long.state === 'closed' && long.samples.length).toBe(50);
  });

  test('it is open for all changes for 60 seconds, then half-open', () => {
    const opened = fed(times(10, 'failure'));
    expect(phaseAt(opened, 9_000, P)).toBe('open');
    expect(phaseAt(opened, 9_000 + 59_999, P)).toBe('open');
    expect(phaseAt(opened, 9_000 + 60_000, P)).toBe('half_open');
  });

  test('its evidence lists the changes that failed or warned, newest first, without successes', () => {
    const opened = fed([...times(4, 'success'), 'warn', ...times(5, 'failure')]);
    expect(opened.state === 'open' && opened.evidence).toEqual([9, 8, 7, 6, 5, 4].map(id));
  });
});

describe('half-open', () => {
  const opened = fed(times(10, 'failure'));
  const later = 9_000 + P.openMs;
  const probing = reserve(opened, id(100), later, P);

  test('one change passes, however often it asks; no other passes until it has a sample', () => {
    expect(passes(opened, id(100), later - 1, P)).toBe(false);
    expect(passes(opened, id(100), later, P)).toBe(true);
    expect(passes(probing, id(100), later, P)).toBe(true);
    expect(passes(probing, id(101), later, P)).toBe(false);
    expect(reserve(probing, id(101), later, P)).toBe(probing);
  });

  test('a successful probe closes it and clears the window; a failed probe opens it for another 60 seconds', () => {
    expect(addSample(probing, { changeId: id(100), at: later + 5, sample: 'success' }, P)).toBe(CLOSED);
    const again = addSample(probing, { changeId: id(100), at: later + 5, sample: 'failure' }, P);
    expect(phaseAt(again, later + 5 + P.openMs - 1, P)).toBe('open');
    expect(again.state === 'open' && again.evidence[0]).toBe(id(100));
  });

  test('samples of other changes do not change its state', () => {
    for (const sample of ['success', 'failure'] as const)
      for (const b of [opened, probing]) expect(addSample(b, { changeId: id(101), at: later, sample }, P)).toBe(b);
  });

  test('a probe without a sample is replaced after ten minutes', () => {
    expect(passes(probing, id(101), later + P.probeMs - 1, P)).toBe(false);
    const next = reserve(probing, id(101), later + P.probeMs, P);
    expect(passes(next, id(100), later + P.probeMs, P)).toBe(false);
    expect(addSample(next, { changeId: id(100), at: later + P.probeMs, sample: 'success' }, P)).toBe(next);
  });
});

type Step =
  | { readonly kind: 'take'; readonly change: number; readonly sample: BreakerSample; readonly wait: number }
  | { readonly kind: 'ask'; readonly change: number; readonly wait: number };
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('take' as const),
    change: fc.nat(300),
    sample: fc.constantFrom<BreakerSample>('failure', 'failure', 'warn', 'success'),
    wait: fc.constantFrom(0, 500, 5_000),
  }),
  fc.record({ kind: fc.constant('ask' as const), change: fc.nat(300), wait: fc.constantFrom(0, 0, 0, 500, 61_000) }),
);

/** `expect` takes long in thousands of steps. The stack names the line. */
function must(holds: boolean): void {
  if (!holds) throw new Error('the breaker is in a wrong state');
}

test('in any order of calls, it opens only if the window reaches the weight, closes only by its probe, and has one probe at a time', () => {
  let opened = 0;
  let closed = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 60, maxLength: 150 }), (steps) => {
      let b: Breaker = CLOSED;
      let at = 0;
      let passing: { change: string; until: number } | null = null;
      for (const s of steps) {
        at += s.wait;
        const before = b;
        if (s.kind === 'ask') {
          const change = id(s.change);
          const through = passes(b, change, at, P);
          if (through) b = reserve(b, change, at, P);
          if (b.state === 'open' && through) {
            must(at >= b.since + P.openMs);
            if (passing !== null && at < passing.until) must(change === passing.change);
            else passing = { change, until: at + P.probeMs };
          }
          must(b.state === before.state);
          continue;
        }
        // Sometimes the sample is the probe's.
        const own = s.wait === 500 && b.state === 'open' ? b.probe?.changeId : undefined;
        const sampled: Sampled = { changeId: own ?? id(s.change), at, sample: s.sample };
        b = addSample(b, sampled, P);
        if (before.state === 'closed' && b.state === 'open') {
          opened++;
          const window = windowAt([...before.samples, sampled], at, P);
          must(window.length >= P.minSamples);
          must(meanWeight(window) >= P.openAt);
          must(b.evidence.length > 0);
        }
        if (before.state === 'closed' && b.state === 'closed' && b.samples.length >= P.minSamples)
          must(meanWeight(b.samples) < P.openAt);
        if (before.state === 'open' && b !== before) {
          must(before.probe?.changeId === sampled.changeId);
          must(b.state === (s.sample === 'failure' ? 'open' : 'closed'));
          if (b.state === 'closed') closed++;
          passing = null;
        }
        if (b.state === 'closed') must(new Set(b.samples.map((x) => x.changeId)).size === b.samples.length);
      }
    }),
    { numRuns: 200 },
  );
  expect(opened).toBeGreaterThan(20);
  expect(closed).toBeGreaterThan(0);
});

describe('all breakers of a pair', () => {
  const A = 'guardian.a';
  const B = 'guardian.b';
  const review = (n: number, samples: Record<string, BreakerSample>) => ({ changeId: id(n), samples });
  const failing = (
    n: number,
    from: Breakers = NO_BREAKERS,
    samples: Record<string, BreakerSample> = { [A]: 'failure', [B]: 'success' },
  ) => Array.from({ length: n }).reduce<Breakers>((b, _, i) => addReview(b, review(i, samples), i, P), from);
  const phases = (b: Breakers, at: number) =>
    Object.fromEntries(viewAt(b, at, P).map((v) => [v.validatorId, phaseOf(v, at)]));

  test('each validator has its own breaker: one that fails does not open the others', () => {
    expect(phases(failing(10), 10)).toEqual({ [A]: 'open', [B]: 'closed' });
  });

  test('a review is counted once, even after its breaker was reset', () => {
    const once = addReview(NO_BREAKERS, review(1, { [A]: 'failure' }), 0, P);
    expect(addReview(once, review(1, { [A]: 'failure', [B]: 'failure' }), 5, P)).toBe(once);
    const cleared = resetBreakers(failing(10), null);
    expect(cleared.byValidator.size).toBe(0);
    expect(failing(10, cleared).byValidator.size).toBe(0);
  });

  test('resetting one validator does not change the others', () => {
    const both = failing(10, NO_BREAKERS, { [A]: 'failure', [B]: 'failure' });
    expect(phases(resetBreakers(both, A), 10)).toEqual({ [B]: 'open' });
  });

  test('a change is the probe of all half-open breakers that it meets, or of none', () => {
    const both = failing(10, NO_BREAKERS, { [A]: 'failure', [B]: 'failure' });
    const later = 10 + P.openMs;
    const first = reserveProbe(both, id(50), [A, B], later, P);
    expect(first.blocked).toEqual([]);
    const second = reserveProbe(first.breakers, id(51), [A, B], later, P);
    expect(second).toEqual({ breakers: first.breakers, blocked: [A, B] });
    const onlyA = reserveProbe(both, id(50), [A], later, P).breakers;
    expect(reserveProbe(onlyA, id(51), [A, B], later, P)).toEqual({ breakers: onlyA, blocked: [A] });
    expect(reserveProbe(onlyA, id(51), ['guardian.unknown'], later, P).blocked).toEqual([]);
  });

  test('a probe whose review did not run the validator is released', () => {
    const later = 10 + P.openMs;
    const { breakers } = reserveProbe(failing(10), id(50), [A], later, P);
    const silent = addReview(breakers, review(50, { [B]: 'success' }), later, P);
    expect(phases(silent, later)[A]).toBe('half_open');
    expect(reserveProbe(silent, id(51), [A], later, P).blocked).toEqual([]);
  });

  test('at most 500 validators are kept, and those without a recent sample are dropped', () => {
    const many = Object.fromEntries(
      Array.from({ length: MAX_VALIDATORS + 5 }, (_, i) => [`guardian.r${i}`, 'success' as const]),
    );
    const full = addReview(NO_BREAKERS, review(1, many), 0, P);
    expect(full.byValidator.size).toBe(MAX_VALIDATORS);
    expect(addReview(full, review(2, { [A]: 'failure' }), 1, P).byValidator.has(A)).toBe(false);
    expect([...addReview(full, review(2, { [A]: 'failure' }), P.windowMs + 1, P).byValidator.keys()]).toEqual([A]);
  });

  test('continue-as-new carries the complete state, far below the payload limit', () => {
    const names = Array.from({ length: 200 }, (_, i) => `guardian.sql_some_rule_name_${i}`);
    const kinds: BreakerSample[] = ['failure', 'warn', 'success'];
    let b = NO_BREAKERS;
    for (let n = 0; n < 60; n++)
      b = addReview(
        b,
        review(n, Object.fromEntries(names.map((v, i) => [v, i < 5 ? 'failure' : kinds[(n + i) % 3 === 0 ? 1 : 2]!]))),
        n,
        P,
      );
    b = reserveProbe(b, id(900), names.slice(0, 2), 10 + P.openMs, P).breakers;
    const packed = packBreakers(b);
    const text = JSON.stringify(packed);
    expect(text.length).toBeLessThan(100_000);
    expect(unpackBreakers(PackedBreakers.parse(JSON.parse(text)))).toEqual(b);
  });
});

test('ERROR and BLOCK are failures, WARN a warning, ALLOW a success, SKIPPED gives no sample, and the breaker never samples itself [F7, F64]', () => {
  const finding = (validator_id: string, status: 'ALLOW' | 'WARN' | 'BLOCK' | 'SKIPPED') => ({ validator_id, status });
  const findings = [
    finding('guardian.a', 'ALLOW'),
    finding('safety.b', 'WARN'),
    finding('guardian.c', 'BLOCK'),
    finding('guardian.llm_judge', 'SKIPPED'),
    finding('guardian.circuit_open', 'BLOCK'),
  ];
  expect(breakerSamples(findings)).toEqual({ 'guardian.a': 'success', 'safety.b': 'warn', 'guardian.c': 'failure' });
});
