import { z } from 'zod';
import { Name, Sha256Hex } from '../contracts/diff';

/** SHA-256 of the typed public key, 64 hex digits: a key id says which key, and can say nothing else. */
export const KeyId = Sha256Hex;
export type KeyId = z.infer<typeof KeyId>;

const IsoTime = z.iso.datetime();
const Person = z.string().min(1).max(200);
const Nonce = z.string().min(16).max(100);

/** What a requester's service key signs (records.md §7). `onBehalfOf` must equal what the registry says of the key. */
export const SubmissionPredicate = z.strictObject({
  changeId: Sha256Hex,
  inputSha: Sha256Hex,
  keyId: KeyId,
  onBehalfOf: Person.nullable(),
  nonce: Nonce,
  issuedAt: IsoTime,
});
export type SubmissionPredicate = z.infer<typeof SubmissionPredicate>;

/** records.md §8. */
export const KeyKind = z.enum(['service', 'approver', 'attestor', 'committer', 'operator']);
export type KeyKind = z.infer<typeof KeyKind>;

/** One entry of the key registry, signed by an operator key, so that a writer of the database cannot add an approver. */
export const KeyEntry = z.strictObject({
  keyId: KeyId,
  /** The 32 raw bytes of an Ed25519 public key, lower-case hex. */
  publicKey: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits'),
  kind: KeyKind,
  subject: z.strictObject({ type: z.enum(['person', 'agent', 'service']), id: Person }),
  /** The person a service key submits for: the requester, who is barred from answering. */
  onBehalfOf: Person.nullable(),
  /** Made by the embedded default: good for targets marked `development` only. */
  demo: z.boolean(),
  addedAt: IsoTime,
  operatorKeyId: KeyId,
});
export type KeyEntry = z.infer<typeof KeyEntry>;

export const KeyRevocation = z.strictObject({
  keyId: KeyId,
  reason: z.string().max(500),
  revokedAt: IsoTime,
  operatorKeyId: KeyId,
});
export type KeyRevocation = z.infer<typeof KeyRevocation>;

/** One published policy revision. The bundle's text lies beside it; `bundleSha` binds it, `plans` names every plan it compiles to. */
export const PolicyRevision = z.strictObject({
  revision: z.int().min(1),
  bundleSha: Sha256Hex,
  plans: z.array(z.strictObject({ target: Name, sourceTool: Name, planHash: Sha256Hex })).max(500),
  keyId: KeyId,
  issuedAt: IsoTime,
});
export type PolicyRevision = z.infer<typeof PolicyRevision>;

export const PolicyRevocation = z.strictObject({
  revision: z.int().min(1),
  bundleSha: Sha256Hex,
  reason: z.string().max(500),
  keyId: KeyId,
  revokedAt: IsoTime,
});
export type PolicyRevocation = z.infer<typeof PolicyRevocation>;

/** A signed head of the Merkle tree (RFC 6962) over all ledger rows: none of the first `size` can change or vanish unseen. */
export const Checkpoint = z.strictObject({
  size: z.int().min(0),
  rootHash: Sha256Hex,
  keyId: KeyId,
  at: IsoTime,
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/** An operator's word on an effect that neither marker nor read-back tells. */
export const EffectResolution = z.strictObject({
  changeId: Sha256Hex,
  target: Name,
  /** What the operator found in the target. */
  applied: z.boolean(),
  reason: z.string().min(1).max(500),
  keyId: KeyId,
  resolvedAt: IsoTime,
});
export type EffectResolution = z.infer<typeof EffectResolution>;

/** One freeze or unfreeze of a target; of all with one target the highest `n` stands. */
export const TargetFreeze = z.strictObject({
  target: Name,
  n: z.int().min(1),
  frozen: z.boolean(),
  reason: z.string().min(1).max(500),
  keyId: KeyId,
  at: IsoTime,
});
export type TargetFreeze = z.infer<typeof TargetFreeze>;
