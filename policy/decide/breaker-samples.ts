import type { ValidatorFinding } from '../contracts/finding';
import { breakerSample, type BreakerSample } from '../contracts/readings';

/** Says that a breaker is open. Never sampled: it would hold itself open. */
export const CIRCUIT_OPEN = 'guardian.circuit_open';

/** One sample for each validator that ran (F64); a SKIPPED one said nothing. */
export function breakerSamples(
  findings: readonly Pick<ValidatorFinding, 'validator_id' | 'status'>[],
): Record<string, BreakerSample> {
  const samples: Record<string, BreakerSample> = {};
  for (const { validator_id: id, status } of findings) {
    if (status !== 'SKIPPED' && id !== CIRCUIT_OPEN) samples[id] = breakerSample(status);
  }
  return samples;
}
