import { z } from 'zod';
import { Sha256Hex } from './diff';
import { typedHash, type Sha256 } from './hash';
import type { JsonValue } from './canonical-json';

/** Makers of attested records (records.md §4). */
export const AttestedKind = z.enum(['judge', 'callback', 'breaker', 'aggregate', 'previously_rejected']);
export type AttestedKind = z.infer<typeof AttestedKind>;

/**
 * A signed record of something that reads a model, the world, a clock or other reviews. Bound to what it was given.
 * `result` is a ValidatorResult, or a PolicyCallbackResult for callbacks; `record` holds whatever else the maker keeps.
 */
export const AttestedPredicate = z.strictObject({
  kind: AttestedKind,
  /** Validator id; for a callback `<findingIndex>/<policyKey>`. */
  subject: z.string().min(1).max(300),
  changeId: Sha256Hex,
  inputSha: Sha256Hex,
  stagingSha: Sha256Hex.nullable(),
  planHash: Sha256Hex,
  logicHash: Sha256Hex,
  /** `attestedInputDigest` of everything it was given; the committer recomputes it. */
  inputDigest: Sha256Hex,
  evaluatedAt: z.iso.datetime(),
  keyId: z.string().min(1),
  result: z.json(),
  record: z.record(z.string(), z.json()),
});
export type AttestedPredicate = z.infer<typeof AttestedPredicate>;

/** Digest of what an attestor was given. `given` must be recomputable by the committer from store, plan and ledger. */
export function attestedInputDigest(kind: AttestedKind, given: { readonly [key: string]: JsonValue }): Sha256 {
  return typedHash('attested-input', { kind, given });
}
