/**
 * The breaker workflow: its id, input and messages. One workflow for each (tenant, source tool), started with the first
 * samples, running for ever.
 *
 * Whoever can write to the namespace can also forge samples and resets. That opens or closes a breaker, which is one
 * finding more or less; no required answer hangs on it.
 */
import { z } from 'zod';
import { Name, Sha256Hex } from '../contracts/diff';
import { ValidatorId } from '../contracts/finding';
import { TASK_QUEUES } from '../contracts/queues';
import { MAX_VALIDATORS, PackedBreakers, type BreakerView } from './breakers';

/** A small whole number of milliseconds or of things. */
const Count = z.int().min(1).max(86_400_000);

export const BreakerParameters = z.strictObject({
  maxSamples: Count.max(200),
  windowMs: Count,
  minSamples: Count.max(200),
  openAt: z.number().gt(0).max(1),
  openMs: Count,
  probeMs: Count,
});

const Reset = z.strictObject({
  at: z.int(),
  actor: z.string(),
  reason: z.string(),
  validatorId: z.string().nullable(),
});

export const BreakerInput = z.strictObject({
  tenant: Name,
  sourceTool: Name,
  parameters: BreakerParameters,
  /** Only what continue-as-new carries; absent at the first start. */
  carried: z.strictObject({ breakers: PackedBreakers, resets: z.array(Reset), ignored: z.int().min(0) }).optional(),
  /** Continues as new after so many events, besides when the server suggests it. */
  continueAfter: z.int().min(50).optional(),
});
export type BreakerInput = z.infer<typeof BreakerInput>;

const ValidatorName = ValidatorId.max(200);

/** One review's verdicts. A review is counted once. */
export const SamplesMessage = z.strictObject({
  changeId: Sha256Hex,
  samples: z.record(ValidatorName, z.enum(['success', 'warn', 'failure'])),
});
export type SamplesMessage = z.infer<typeof SamplesMessage>;

export const ProbeMessage = z.strictObject({
  changeId: Sha256Hex,
  validatorIds: z.array(ValidatorName).max(MAX_VALIDATORS),
});
export type ProbeMessage = z.infer<typeof ProbeMessage>;

/** `validatorId` null resets all of the pair. */
export const ResetMessage = z.strictObject({
  validatorId: ValidatorName.nullable(),
  actor: z.string().min(1).max(200),
  reason: z.string().min(1).max(2000),
});
export type ResetMessage = z.infer<typeof ResetMessage>;

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
  readonly resets: readonly z.infer<typeof Reset>[];
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
