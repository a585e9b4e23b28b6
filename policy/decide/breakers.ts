import { z } from 'zod';
import { Sha256Hex } from '../contracts/diff';
import type { BreakerSample } from '../contracts/readings';
import {
  addSample,
  CLOSED,
  meanWeight,
  passes,
  releaseProbe,
  reserve,
  windowAt,
  type Breaker,
  type BreakerParameters,
  type BreakerPhase,
  type Sampled,
} from './breaker';

/**
 * All breakers of one (tenant, source tool), one per validator. Samples are added per review.
 *
 * C1 A review counts once, even if its samples arrive again after the breaker closed or was reset.
 * C2 A change becomes the probe of all half-open breakers that it meets, or of none.
 * C3 Bounded to 500 validators and the last 1,000 reviews. Validators above the limit have no breaker.
 */
export interface Breakers {
  readonly byValidator: ReadonlyMap<string, Breaker>;
  /** First 16 digits of the ids of the most recent reviews, oldest first. */
  readonly seen: readonly string[];
}

export const MAX_VALIDATORS = 500;
const MAX_SEEN = 1_000;

export const NO_BREAKERS: Breakers = Object.freeze({ byValidator: new Map<string, Breaker>(), seen: [] });

/** One review's samples, by validator id. */
interface ReviewSamples {
  readonly changeId: string;
  readonly samples: Readonly<Record<string, BreakerSample>>;
}

export function addReview(breakers: Breakers, review: ReviewSamples, at: number, p: BreakerParameters): Breakers {
  const mark = review.changeId.slice(0, 16);
  if (breakers.seen.includes(mark)) return breakers;
  const samples = new Map(Object.entries(review.samples));
  const next = new Map<string, Breaker>();
  for (const [id, breaker] of breakers.byValidator) {
    const kept = samples.has(id) ? breaker : releaseProbe(breaker, review.changeId);
    // A closed breaker with only expired samples is dropped: it equals a new one.
    if (kept.state === 'open' || samples.has(id) || windowAt(kept.samples, at, p).length > 0) next.set(id, kept);
  }
  for (const [id, sample] of samples) {
    if (!next.has(id) && next.size >= MAX_VALIDATORS) continue;
    next.set(id, addSample(next.get(id) ?? CLOSED, { changeId: review.changeId, at, sample }, p));
  }
  return { byValidator: next, seen: [...breakers.seen, mark].slice(-MAX_SEEN) };
}

interface Reserved {
  readonly breakers: Breakers;
  /** Validators whose breaker stops the change. If empty, the change is now the probe of each half-open breaker. */
  readonly blocked: readonly string[];
}

export function reserveProbe(
  breakers: Breakers,
  changeId: string,
  validatorIds: readonly string[],
  at: number,
  p: BreakerParameters,
): Reserved {
  const met = validatorIds.flatMap((id) => {
    const breaker = breakers.byValidator.get(id);
    return breaker === undefined ? [] : [[id, breaker] as const];
  });
  const blocked = met.filter(([, breaker]) => !passes(breaker, changeId, at, p)).map(([id]) => id);
  if (blocked.length > 0) return { breakers, blocked };
  const next = new Map(breakers.byValidator);
  for (const [id, breaker] of met) next.set(id, reserve(breaker, changeId, at, p));
  return { breakers: { ...breakers, byValidator: next }, blocked };
}

/** Resets the breaker of one validator, or all of them, to closed and empty. Reviews that were counted are not counted again. */
export function resetBreakers(breakers: Breakers, validatorId: string | null): Breakers {
  const byValidator = new Map(validatorId === null ? [] : breakers.byValidator);
  if (validatorId !== null) byValidator.delete(validatorId);
  return { ...breakers, byValidator };
}

/** One breaker as shown to people. Does not contain the phase, which changes with time: call `phaseOf`. */
export type BreakerView =
  | { readonly validatorId: string; readonly state: 'closed'; readonly samples: number; readonly weight: number }
  | {
      readonly validatorId: string;
      readonly state: 'open';
      /** Milliseconds since the epoch, like all times in this file. */
      readonly since: number;
      readonly halfOpenAt: number;
      readonly probe: { readonly changeId: string; readonly until: number } | null;
      /** Changes whose samples opened it, newest first. */
      readonly evidence: readonly string[];
    };

/** Ordered by when each validator was first seen. */
export function viewAt(breakers: Breakers, at: number, p: BreakerParameters): BreakerView[] {
  return [...breakers.byValidator].map(([validatorId, breaker]): BreakerView => {
    if (breaker.state === 'closed') {
      const samples = windowAt(breaker.samples, at, p);
      return { validatorId, state: 'closed', samples: samples.length, weight: meanWeight(samples) };
    }
    const { since, evidence, probe } = breaker;
    const until = probe === null ? null : { changeId: probe.changeId, until: probe.at + p.probeMs };
    return { validatorId, state: 'open', since, halfOpenAt: since + p.openMs, probe: until, evidence };
  });
}

export function phaseOf(view: BreakerView, at: number): BreakerPhase {
  if (view.state === 'closed') return 'closed';
  if (at < view.halfOpenAt) return 'open';
  return view.probe !== null && at < view.probe.until ? 'probing' : 'half_open';
}

const Time = z.int().min(0);
const Index = z.int().min(0);

/** Compact form of the row `state`: each review's id and time is stored once; a sample is `index × 3 + kind`. */
export const PackedBreakers = z.strictObject({
  v: z.literal(1),
  seen: z.array(z.string().max(16)).max(MAX_SEEN),
  reviews: z.array(z.tuple([Sha256Hex, Time])),
  closed: z.record(z.string(), z.array(Index)),
  open: z.record(
    z.string(),
    z.strictObject({
      since: Time,
      evidence: z.array(Sha256Hex).min(1),
      probe: z.strictObject({ changeId: Sha256Hex, at: Time }).nullable(),
    }),
  ),
});
export type PackedBreakers = z.infer<typeof PackedBreakers>;

const KINDS = ['success', 'warn', 'failure'] as const satisfies readonly BreakerSample[];

export function packBreakers(breakers: Breakers): PackedBreakers {
  const reviews: [string, number][] = [];
  const index = new Map<string, number>();
  const indexOf = ({ changeId, at }: Sampled): number => {
    const key = `${changeId}@${at}`;
    const known = index.get(key);
    if (known !== undefined) return known;
    index.set(key, reviews.length);
    return reviews.push([changeId, at]) - 1;
  };
  const closed: Record<string, number[]> = {};
  const open: PackedBreakers['open'] = {};
  for (const [id, breaker] of breakers.byValidator) {
    if (breaker.state === 'closed')
      closed[id] = breaker.samples.map((s) => indexOf(s) * KINDS.length + KINDS.indexOf(s.sample));
    else open[id] = { since: breaker.since, evidence: [...breaker.evidence], probe: breaker.probe };
  }
  return { v: 1, seen: [...breakers.seen], reviews, closed, open };
}

/** Throws RangeError if a sample refers to a review that is not in the packed state. */
export function unpackBreakers(packed: PackedBreakers): Breakers {
  const byValidator = new Map<string, Breaker>();
  for (const [id, samples] of Object.entries(packed.closed)) {
    byValidator.set(id, {
      state: 'closed',
      samples: samples.map((code): Sampled => {
        const review = packed.reviews[Math.floor(code / KINDS.length)];
        const sample = KINDS[code % KINDS.length];
        if (review === undefined || sample === undefined)
          throw new RangeError(`Packed breaker of ${id}: sample ${code} refers to an unknown review or kind`);
        return { changeId: review[0], at: review[1], sample };
      }),
    });
  }
  for (const [id, breaker] of Object.entries(packed.open)) byValidator.set(id, { state: 'open', ...breaker });
  return { byValidator, seen: packed.seen };
}
