import type { ValidatorFinding } from '../contracts/finding';
import { breakerSample, type BreakerSample } from '../contracts/readings';

/** The validator that reports an open breaker. Never sampled: its own findings would keep the breaker open. */
export const CIRCUIT_OPEN = 'guardian.circuit_open';

/** One sample for each validator that ran; a SKIPPED validator gives none. */
export function breakerSamples(
  findings: readonly Pick<ValidatorFinding, 'validator_id' | 'status'>[],
): Record<string, BreakerSample> {
  const samples: Record<string, BreakerSample> = {};
  for (const { validator_id: id, status } of findings) {
    if (status !== 'SKIPPED' && id !== CIRCUIT_OPEN) samples[id] = breakerSample(status);
  }
  return samples;
}
