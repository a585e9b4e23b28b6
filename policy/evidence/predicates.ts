import { z } from 'zod';
import { Name, Sha256Hex } from '../contracts/diff';
import { SubjectId } from '../contracts/subject-id';
import { CredentialId, isOriginOf, PasskeyPublicKey, RpId, WebOrigins } from './passkey-key';

/** Key id: SHA-256 of the typed public key, 64 lower-case hex digits. */
export const KeyId = Sha256Hex;
export type KeyId = z.infer<typeof KeyId>;

const IsoTime = z.iso.datetime();
const Nonce = z.string().min(16).max(100);

/** The submission that a requester's service key signs. `onBehalfOf` must equal the member of the key's registry entry. */
export const SubmissionPredicate = z.strictObject({
  changeId: Sha256Hex,
  inputSha: Sha256Hex,
  keyId: KeyId,
  onBehalfOf: SubjectId.nullable(),
  /** The change that this one replaces, or null. This signature is what supersedes that change. */
  supersedes: Sha256Hex.nullable(),
  nonce: Nonce,
  issuedAt: IsoTime,
});
export type SubmissionPredicate = z.infer<typeof SubmissionPredicate>;

/** Members that both statements which end a review have. `actor` is a claim of the signer; the registry names the key's owner. */
const Ending = {
  changeId: Sha256Hex,
  keyId: KeyId,
  actor: z.string().min(1).max(200),
  reason: z.string().max(2000),
  nonce: Nonce,
  issuedAt: IsoTime,
};

/** Withdraws a change. Signed by the service key that submitted it, or by an approver of its plan. */
export const WithdrawPredicate = z.strictObject(Ending);
export type WithdrawPredicate = z.infer<typeof WithdrawPredicate>;

/** Replaces a change by another one, `by`, of the same requester, target and source tool. Signed as a withdrawal. */
export const SupersedePredicate = z.strictObject({ ...Ending, by: Sha256Hex });
export type SupersedePredicate = z.infer<typeof SupersedePredicate>;

/** What a key may sign: submissions and withdrawals, answers and withdrawals, attested records, receipts, or operator statements. */
export const KeyKind = z.enum(['service', 'approver', 'attestor', 'committer', 'operator']);
export type KeyKind = z.infer<typeof KeyKind>;

/** What the holder of a key may do in its tenants. `operate`: freeze targets, resolve effects, publish policy. */
export const KeyRight = z.enum(['submit', 'read', 'answer', 'operate']);
export type KeyRight = z.infer<typeof KeyRight>;

/** Allows every tenant. An operator must write it explicitly. */
export const ANY_TENANT = '*';

const distinct = (list: readonly string[]): boolean => new Set(list).size === list.length;

/** One entry of the key registry. An operator key signs it, so that a database writer cannot add an approver. */
export const KeyEntry = z.strictObject({
  keyId: KeyId,
  /** The 32 raw bytes of an Ed25519 public key, lower-case hex. */
  publicKey: z.string().regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits'),
  kind: KeyKind,
  subject: z.strictObject({ type: z.enum(['person', 'agent', 'service']), id: SubjectId }),
  /** The person that a service key submits for: the requester, who may not answer. */
  onBehalfOf: SubjectId.nullable(),
  /** The tenants in which the key may act; empty: none. */
  tenants: z
    .array(z.union([Name, z.literal(ANY_TENANT)]))
    .max(100)
    .refine(distinct, 'expected each tenant once'),
  /** Empty: the key may only sign what its kind allows (attested records, receipts). */
  rights: z.array(KeyRight).refine(distinct, 'expected each right once'),
  /** Created by the embedded environment; accepted only for targets marked `development`. */
  demo: z.boolean(),
  addedAt: IsoTime,
  operatorKeyId: KeyId,
});
export type KeyEntry = z.infer<typeof KeyEntry>;

/** Most time that an enrolment link can be valid. */
export const MAX_ENROLLMENT_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * A one-time link, by which one person enrols one passkey. An operator signs it. The private half of the one-time key is in the link
 * only, so neither the gateway nor a database writer can use it.
 */
export const Enrollment = z
  .strictObject({
    /** Id and public key of the one-time Ed25519 key. */
    keyId: KeyId,
    publicKey: KeyEntry.shape.publicKey,
    subject: z.strictObject({ type: z.literal('person'), id: SubjectId }),
    tenants: KeyEntry.shape.tenants.min(1),
    rights: z
      .array(z.enum(['read', 'answer']))
      .min(1)
      .refine(distinct, 'expected each right once'),
    rpId: RpId,
    /** The pages that may ask for a signature of the passkey. */
    origins: WebOrigins,
    demo: z.boolean(),
    issuedAt: IsoTime,
    expiresAt: IsoTime,
    operatorKeyId: KeyId,
  })
  .refine(
    ({ rpId, origins }) => origins.every((origin) => isOriginOf(rpId, origin)),
    'expected origins whose host is the rpId or below it',
  )
  .refine(({ issuedAt, expiresAt }) => {
    const valid = Date.parse(expiresAt) - Date.parse(issuedAt);
    return valid > 0 && valid <= MAX_ENROLLMENT_MS;
  }, 'expected expiresAt at most 7 days after issuedAt');
export type Enrollment = z.infer<typeof Enrollment>;

/** The passkey that was made with a link. The one-time key of the link signs it. */
export const PasskeyEnrollment = z.strictObject({
  enrollmentKeyId: KeyId,
  /** SHA-256 of the pre-authentication encoding of the operator's statement. */
  enrollmentSha: Sha256Hex,
  /** Id of the passkey, as `passkeyKeyId` computes it. */
  keyId: KeyId,
  credentialId: CredentialId,
  publicKey: PasskeyPublicKey,
  enrolledAt: IsoTime,
});
export type PasskeyEnrollment = z.infer<typeof PasskeyEnrollment>;

export const KeyRevocation = z.strictObject({
  keyId: KeyId,
  reason: z.string().max(500),
  revokedAt: IsoTime,
  operatorKeyId: KeyId,
});
export type KeyRevocation = z.infer<typeof KeyRevocation>;

/** One published policy revision. `bundleSha` binds the bundle's text, and `plans` lists every plan compiled from it. */
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

/** A signed head of the Merkle tree (RFC 6962) over all ledger rows. Makes changes to the first `size` rows detectable. */
export const Checkpoint = z.strictObject({
  size: z.int().min(0),
  rootHash: Sha256Hex,
  keyId: KeyId,
  at: IsoTime,
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/**
 * The end of a change: how many rows it has, and the hash of the last of them, the row `closed`. Written when the change is
 * closed, so that a file whose rows do not reach it is known to be incomplete.
 */
export const ChangeHead = z.strictObject({
  changeId: Sha256Hex,
  rows: z.int().min(1),
  hash: Sha256Hex,
  keyId: KeyId,
  at: IsoTime,
});
export type ChangeHead = z.infer<typeof ChangeHead>;

/** An operator's statement whether an effect was applied, if neither the marker nor a read-back can tell. */
export const EffectResolution = z.strictObject({
  changeId: Sha256Hex,
  target: Name,
  /** Whether the operator found the effect in the target. */
  applied: z.boolean(),
  reason: z.string().min(1).max(500),
  keyId: KeyId,
  resolvedAt: IsoTime,
});
export type EffectResolution = z.infer<typeof EffectResolution>;

/** An operator's reset of a circuit breaker, or, with `validatorId` null, of all breakers of the tenant and source tool. */
export const BreakerReset = z.strictObject({
  tenant: Name,
  sourceTool: Name,
  validatorId: z.string().min(1).max(200).nullable(),
  reason: z.string().min(1).max(500),
  keyId: KeyId,
  issuedAt: IsoTime,
});
export type BreakerReset = z.infer<typeof BreakerReset>;

/** A freeze or unfreeze of a target. Of several for one target, the one with the highest `n` is in effect. */
export const TargetFreeze = z.strictObject({
  target: Name,
  n: z.int().min(1),
  frozen: z.boolean(),
  reason: z.string().min(1).max(500),
  keyId: KeyId,
  at: IsoTime,
});
export type TargetFreeze = z.infer<typeof TargetFreeze>;
