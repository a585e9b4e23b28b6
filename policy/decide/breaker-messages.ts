/**
 * The breaker workflow: its id, input and messages. There is one workflow for each (tenant, source tool). The first samples
 * start it, and it never completes.
 *
 * Anyone with write access to the namespace can forge samples and resets, and so open or close a breaker. This adds or removes
 * one finding; it never removes a required answer.
 */
import { z } from 'zod';
import { Name, Sha256Hex } from '../contracts/diff';
import { ValidatorId } from '../contracts/finding';
import { TASK_QUEUES } from '../contracts/queues';
import { MAX_VALIDATORS, PackedBreakers, type BreakerView } from './breakers';

/** A positive integer: a number of milliseconds (at most one day) or of items. */
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
  /** State carried over by continue-as-new; absent at the first start. */
  carried: z.strictObject({ breakers: PackedBreakers, resets: z.array(Reset), ignored: z.int().min(0) }).optional(),
  /** Continue as new after this many history events, in addition to when the server suggests it. */
  continueAfter: z.int().min(50).optional(),
});
export type BreakerInput = z.infer<typeof BreakerInput>;

const ValidatorName = ValidatorId.max(200);

/** The samples of one review. A review is counted once. */
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

/** With `validatorId` null, all breakers of the (tenant, source tool) are reset. */
export const ResetMessage = z.strictObject({
  validatorId: ValidatorName.nullable(),
  actor: z.string().min(1).max(200),
  reason: z.string().min(1).max(2000),
});
export type ResetMessage = z.infer<typeof ResetMessage>;

/** `blocked`: validators whose breaker does not let this change pass. */
export type ProbeResult = { readonly code: 'answered'; readonly blocked: readonly string[] } | Malformed;
/** `reset`: validators that had a breaker. */
export type ResetResult = { readonly code: 'reset'; readonly reset: readonly string[] } | Malformed;
interface Malformed {
  readonly code: 'malformed';
  readonly message: string;
}

export interface BreakersReading {
  readonly tenant: string;
  readonly sourceTool: string;
  readonly breakers: readonly BreakerView[];
  /** The most recent resets, newest first. */
  readonly resets: readonly z.infer<typeof Reset>[];
  /** Number of malformed messages that were ignored. */
  readonly ignored: number;
}

/** Argument of the query `read`. */
export type ReadArgument = 'all' | 'not_closed';

export const BREAKER_MESSAGES = { samples: 'samples', read: 'read', probe: 'probe', reset: 'reset' } as const;

export const BREAKER_WORKFLOW = 'breaker';

/** Each family of queues has separate breakers: `countersign-breaker-acme:…`. Names cannot contain a colon. */
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
