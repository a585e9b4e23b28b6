import { z } from 'zod';
import { Sha256Hex } from '../contracts/diff';
import { PolicyCallbackResult, PolicyViolation } from '../contracts/violation';

/** What a review needs of the body of its row `disclosed`. Without one of these members the row discloses nothing. */
export const DisclosedRow = z.object({
  violations: z.array(PolicyViolation),
  callbackResults: z.record(z.string(), PolicyCallbackResult),
  fingerprint: Sha256Hex,
  /** Who could answer then. */
  reachable: z.array(z.string()),
});
