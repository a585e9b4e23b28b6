import { z } from 'zod';
import { Sha256Hex } from './diff';
import { typedHash, type Sha256 } from './hash';
import type { JsonValue } from './canonical-json';
import { Json, JsonRecord } from './json-value';

/** Kinds of attestors, the components that sign attested records. */
export const AttestedKind = z.enum(['judge', 'callback', 'breaker', 'aggregate', 'previously_rejected']);
export type AttestedKind = z.infer<typeof AttestedKind>;

/**
 * A signed record of a result that cannot be recomputed, because it depends on a model, external state, a clock or other
 * reviews. Bound to its inputs. `result` is a ValidatorResult, or a PolicyCallbackResult for callbacks; `record` contains
 * additional data of the attestor.
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
  /** `attestedInputDigest` of all inputs. The committer recomputes it. */
  inputDigest: Sha256Hex,
  evaluatedAt: z.iso.datetime(),
  keyId: z.string().min(1),
  result: Json,
  record: JsonRecord,
});
export type AttestedPredicate = z.infer<typeof AttestedPredicate>;

/** Digest of an attestor's inputs. The committer must be able to recompute `given` from store, plan and ledger. */
export function attestedInputDigest(kind: AttestedKind, given: { readonly [key: string]: JsonValue }): Sha256 {
  return typedHash('attested-input', { kind, given });
}
