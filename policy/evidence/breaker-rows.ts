/**
 * The circuit breakers of one (tenant, source tool) as a function of rows. Times are those of the database, in milliseconds since
 * the epoch.
 *
 * R1 Rows are folded in their order: `sample` (one review, by the committer), `probe` (a change that passes a half-open breaker),
 *    `reset` (a statement that an operator signed) and `state` (the fold of all rows before it, so that few rows are read).
 * R2 A row that cannot be read makes all breakers unknown, which counts as open, until an operator resets all of them. A reset that
 *    no trusted operator signed is ignored.
 * R3 A reset counts within RESET_FRESH_MS of its signature, and once: a copy of an old one closes nothing.
 */
import { z } from 'zod';
import { Sha256Hex } from '../contracts/diff';
import { ValidatorId } from '../contracts/finding';
import type { BreakerReset } from './predicates';
import type { BreakerParameters } from '../decide/breaker';
import {
  addReview,
  MAX_VALIDATORS,
  NO_BREAKERS,
  PackedBreakers,
  reserveProbe,
  resetBreakers,
  unpackBreakers,
  type Breakers,
} from '../decide/breakers';
import { jsonOf } from '../text/json-of';

export interface BreakerRow {
  readonly kind: string;
  readonly changeId: string | null;
  /** JSON as it is stored. */
  readonly body: string;
  readonly at: number;
}

/** How far the time of a reset's row may be from that of its signature. */
export const RESET_FRESH_MS = 5 * 60_000;

const ValidatorName = ValidatorId.max(200);
const Samples = z.record(ValidatorName, z.enum(['success', 'warn', 'failure']));
const Probe = z.array(ValidatorName).min(1).max(MAX_VALIDATORS);

/**
 * Null if a row cannot be read (R2). `signedReset`: the statement in the body of a row `reset`, if an operator that the caller trusts
 * signed it.
 */
export function foldBreakers(
  rows: readonly BreakerRow[],
  p: BreakerParameters,
  signedReset: (body: unknown) => BreakerReset | null,
): Breakers | null {
  let breakers: Breakers | null = NO_BREAKERS;
  const seen = new Set<string>();
  for (const row of rows) {
    if (row.kind !== 'reset') {
      breakers = breakers === null ? null : next(breakers, row, p);
      continue;
    }
    const reset = signedReset(jsonOf(row.body));
    if (reset === null || seen.has(JSON.stringify(reset))) continue;
    if (Math.abs(row.at - Date.parse(reset.issuedAt)) > RESET_FRESH_MS) continue;
    seen.add(JSON.stringify(reset));
    if (breakers !== null) breakers = resetBreakers(breakers, reset.validatorId);
    else if (reset.validatorId === null) breakers = NO_BREAKERS;
  }
  return breakers;
}

function next(before: Breakers, { kind, changeId, body, at }: BreakerRow, p: BreakerParameters): Breakers | null {
  const json = jsonOf(body);
  const id = Sha256Hex.safeParse(changeId);
  switch (kind) {
    case 'state':
      return unpacked(json);
    case 'sample': {
      const samples = Samples.safeParse(json);
      return samples.success && id.success
        ? addReview(before, { changeId: id.data, samples: samples.data }, at, p)
        : null;
    }
    case 'probe': {
      const probe = Probe.safeParse(json);
      return probe.success && id.success ? reserveProbe(before, id.data, probe.data, at, p).breakers : null;
    }
    default:
      return null;
  }
}

function unpacked(json: unknown): Breakers | null {
  const packed = PackedBreakers.safeParse(json);
  if (!packed.success) return null;
  try {
    return unpackBreakers(packed.data);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
