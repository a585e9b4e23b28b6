/**
 * The breaker workflow: its id, input and messages. One workflow for each (tenant, source tool), started with the first
 * samples, running for ever.
 *
 * Whoever can write to the namespace can also forge samples and resets. That opens or closes a breaker, which is one
 * finding more or less; no required answer hangs on it.
 */
import type { BreakerParameters } from './breaker';
import { MAX_VALIDATORS, readPackedBreakers, type BreakerView, type PackedBreakers } from './breakers';
import { VALIDATOR_ID } from '../contracts/limits';
import { listOf, nullable, numberIn, oneOf, optional, recordOf, strict, text, whole } from '../contracts/plain';
import { readName, readSha256 } from '../contracts/plain-submission';
import type { BreakerSample } from '../contracts/readings';
import { TASK_QUEUES } from '../contracts/queues';

/** A small whole number of milliseconds or of things. */
const count = whole(1, 86_400_000);

interface Reset {
  readonly at: number;
  readonly actor: string;
  readonly reason: string;
  readonly validatorId: string | null;
}

export interface BreakerInput {
  readonly tenant: string;
  readonly sourceTool: string;
  readonly parameters: BreakerParameters;
  /** Only what continue-as-new carries; absent at the first start. */
  readonly carried?:
    { readonly breakers: PackedBreakers; readonly resets: readonly Reset[]; readonly ignored: number } | undefined;
  /** Continues as new after so many events, besides when the server suggests it. */
  readonly continueAfter?: number | undefined;
}
export const readBreakerInput = strict<BreakerInput>({
  tenant: readName,
  sourceTool: readName,
  parameters: strict<BreakerParameters>({
    maxSamples: whole(1, 200),
    windowMs: count,
    minSamples: whole(1, 200),
    openAt: numberIn(0, 1),
    openMs: count,
    probeMs: count,
  }),
  carried: optional(
    strict<NonNullable<BreakerInput['carried']>>({
      breakers: readPackedBreakers,
      resets: listOf(strict<Reset>({ at: whole(), actor: text(), reason: text(), validatorId: nullable(text()) })),
      ignored: whole(0),
    }),
  ),
  continueAfter: optional(whole(50)),
});

const validatorName = text({ ...VALIDATOR_ID, max: 200 });

/** One review's verdicts. A review is counted once. */
export interface SamplesMessage {
  readonly changeId: string;
  readonly samples: Readonly<Record<string, BreakerSample>>;
}
export const readSamples = strict<SamplesMessage>({
  changeId: readSha256,
  samples: recordOf(oneOf('success', 'warn', 'failure'), validatorName),
});

export interface ProbeMessage {
  readonly changeId: string;
  readonly validatorIds: readonly string[];
}
export const readProbe = strict<ProbeMessage>({
  changeId: readSha256,
  validatorIds: listOf(validatorName, 0, MAX_VALIDATORS),
});

/** `validatorId` null resets all of the pair. */
export interface ResetMessage {
  readonly validatorId: string | null;
  readonly actor: string;
  readonly reason: string;
}
export const readReset = strict<ResetMessage>({
  validatorId: nullable(validatorName),
  actor: text({ min: 1, max: 200 }),
  reason: text({ min: 1, max: 2000 }),
});

/** `blocked`: validators whose open breaker this change does not pass. */
export type ProbeResult = { readonly code: 'answered'; readonly blocked: readonly string[] } | Malformed;
/** `reset`: whose breaker was there. */
export type ResetResult = { readonly code: 'reset'; readonly reset: readonly string[] } | Malformed;
interface Malformed {
  readonly code: 'malformed';
  readonly message: string;
}

export interface BreakersReading {
  readonly tenant: string;
  readonly sourceTool: string;
  readonly breakers: readonly BreakerView[];
  /** The last ones, newest first. */
  readonly resets: readonly Reset[];
  /** Messages that could not be read. */
  readonly ignored: number;
}

/** Argument of the query `read`. */
export type ReadArgument = 'all' | 'not_closed';

export const BREAKER_MESSAGES = { samples: 'samples', read: 'read', probe: 'probe', reset: 'reset' } as const;

export const BREAKER_WORKFLOW = 'breaker';

/** A family of queues has breakers of its own: `countersign-breaker-acme:…`. No name holds a colon. */
export function breakerWorkflowId(
  pair: { readonly tenant: string; readonly sourceTool: string },
  reviewQueue: string,
): string {
  return `countersign-breaker${familyOf(reviewQueue)}:${pair.tenant}:${pair.sourceTool}`;
}

function familyOf(reviewQueue: string): string {
  if (!reviewQueue.startsWith(TASK_QUEUES.review))
    throw new TypeError(`Task queue "${reviewQueue}": expected a name that begins with "${TASK_QUEUES.review}"`);
  return reviewQueue.slice(TASK_QUEUES.review.length);
}
