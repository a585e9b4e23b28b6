import type { BreakerSample } from '../contracts/readings';

/**
 * The circuit breaker of one validator for the changes of one (tenant, source tool): a pure state machine. Times are
 * parameters, in milliseconds since the epoch.
 *
 * B1 A breaker can only add a finding: it never approves, rejects or skips a validator.
 * B2 It opens if and only if the window has at least `minSamples` samples with a mean weight of at least `openAt`.
 * B3 It stays open for `openMs`, for all changes. Then it is half-open: one change at a time passes as the probe, and only the
 *    probe's sample changes the state. A probe without a sample within `probeMs` is replaced by the next change.
 * B4 One sample per change: a duplicate is a no-op.
 */
export interface BreakerParameters {
  /** The window contains at most this many samples, none older than `windowMs`. */
  readonly maxSamples: number;
  readonly windowMs: number;
  readonly minSamples: number;
  /** Mean weight at which the breaker opens, 0 to 1. */
  readonly openAt: number;
  readonly openMs: number;
  readonly probeMs: number;
}

export const BREAKER_PARAMETERS: BreakerParameters = Object.freeze({
  maxSamples: 50,
  windowMs: 600_000,
  minSamples: 10,
  openAt: 0.5,
  openMs: 60_000,
  probeMs: 600_000,
});

export const SAMPLE_WEIGHT: Readonly<Record<BreakerSample, number>> = Object.freeze({
  failure: 1,
  warn: 0.25,
  success: 0,
});

export interface Sampled {
  readonly changeId: string;
  readonly at: number;
  readonly sample: BreakerSample;
}

export type Breaker =
  /** Oldest first. */
  | { readonly state: 'closed'; readonly samples: readonly Sampled[] }
  | {
      readonly state: 'open';
      readonly since: number;
      /** Changes whose samples opened it, newest first; never empty. */
      readonly evidence: readonly string[];
      readonly probe: { readonly changeId: string; readonly at: number } | null;
    };

/** `probing`: half-open, with a probe in progress. */
export type BreakerPhase = 'closed' | 'open' | 'half_open' | 'probing';

export const CLOSED: Breaker = Object.freeze({ state: 'closed', samples: [] });

export function phaseAt(breaker: Breaker, at: number, p: BreakerParameters): BreakerPhase {
  if (breaker.state === 'closed') return 'closed';
  if (at < breaker.since + p.openMs) return 'open';
  return breaker.probe !== null && at < breaker.probe.at + p.probeMs ? 'probing' : 'half_open';
}

/** Adds one sample. While the breaker is open, only the probe's sample counts: other changes started before it opened, or were blocked by it. */
export function addSample(breaker: Breaker, sampled: Sampled, p: BreakerParameters): Breaker {
  if (breaker.state === 'open')
    return breaker.probe?.changeId === sampled.changeId ? probed(breaker, sampled, p) : breaker;
  if (breaker.samples.some((s) => s.changeId === sampled.changeId)) return breaker;
  const samples = windowAt([...breaker.samples, sampled], sampled.at, p);
  if (samples.length < p.minSamples || meanWeight(samples) < p.openAt) return { state: 'closed', samples };
  return { state: 'open', since: sampled.at, evidence: evidenceOf(samples), probe: null };
}

function probed(
  breaker: Extract<Breaker, { state: 'open' }>,
  { changeId, at, sample }: Sampled,
  p: BreakerParameters,
): Breaker {
  if (SAMPLE_WEIGHT[sample] < p.openAt) return CLOSED;
  const evidence = [changeId, ...breaker.evidence.filter((id) => id !== changeId)].slice(0, p.maxSamples);
  return { state: 'open', since: at, evidence, probe: null };
}

/** Releases the probe if it ended without a sample of this validator, so that the next change becomes the probe. */
export function releaseProbe(breaker: Breaker, changeId: string): Breaker {
  return breaker.state === 'open' && breaker.probe?.changeId === changeId ? { ...breaker, probe: null } : breaker;
}

/** True if this change passes: the breaker is closed, or the change is the probe or can become it. */
export function passes(breaker: Breaker, changeId: string, at: number, p: BreakerParameters): boolean {
  const phase = phaseAt(breaker, at, p);
  return (
    phase === 'closed' ||
    phase === 'half_open' ||
    (phase === 'probing' && breaker.state === 'open' && breaker.probe?.changeId === changeId)
  );
}

/** Makes the change the probe if the breaker is half-open without a probe; otherwise a no-op. Idempotent. */
export function reserve(breaker: Breaker, changeId: string, at: number, p: BreakerParameters): Breaker {
  if (breaker.state === 'closed' || phaseAt(breaker, at, p) !== 'half_open') return breaker;
  return { ...breaker, probe: { changeId, at } };
}

/** The samples in the window at time `at`, oldest first. */
export function windowAt(samples: readonly Sampled[], at: number, p: BreakerParameters): readonly Sampled[] {
  return samples.filter((s) => at - s.at <= p.windowMs).slice(-p.maxSamples);
}

/** 0 if there are no samples. */
export function meanWeight(samples: readonly Sampled[]): number {
  if (samples.length === 0) return 0;
  return samples.reduce((sum, s) => sum + SAMPLE_WEIGHT[s.sample], 0) / samples.length;
}

function evidenceOf(samples: readonly Sampled[]): string[] {
  return samples
    .filter((s) => SAMPLE_WEIGHT[s.sample] > 0)
    .map((s) => s.changeId)
    .reverse();
}
