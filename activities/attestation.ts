import type { AttestedKind, AttestedPredicate } from '../policy/contracts/attested';
import { attestedInputDigest } from '../policy/contracts/attested';
import type { JsonObject, JsonValue } from '../policy/contracts/canonical-json';
import type { Envelope } from '../policy/contracts/diff';
import { CountersignFailure } from '../policy/contracts/failure';
import { FailureType } from '../policy/contracts/failure-type';
import { messageDigest } from '../policy/evidence/dsse';
import type { KeyRegistry } from '../policy/evidence/key-registry';
import type { LedgerEntry } from '../policy/evidence/ledger-port';
import type { OpenedChange } from './review/opened-change';

/** Signs with an attestor key. Judge workers and review workers have one. */
export interface Attestor {
  readonly keyId: string;
  readonly sign: (predicate: AttestedPredicate) => Envelope;
}

/** The attestor of this process, asked for once in each activity, before it does anything else that costs time or takes a lock. */
export type UsableAttestor = () => Promise<Attestor>;

/**
 * Throws a retryable failure while the key is not registered as that of an attestor, or an operator's revocation of it is in the registry:
 * nothing rests on what it would sign, and no evidence of it would verify. The review waits for an operator, or for the restart of the
 * worker with another key. A revocation that no trusted operator signed stops no worker: a review without the records of its judge could be
 * committed, one with records that do not count cannot.
 */
export function usableAttestor(attestor: Attestor, keys: Pick<KeyRegistry, 'find'>): UsableAttestor {
  return async () => {
    const key = await keys.find(attestor.keyId);
    if (key?.kind !== 'attestor')
      throw unusable(
        `The key ${attestor.keyId} of this worker is not registered as that of an attestor, so nothing that it signs counts. Have an operator register it`,
      );
    if (key.revokedAt === null || key.unsignedRevocation === true) return attestor;
    throw unusable(
      `The attestor key ${key.keyId} of this worker was revoked on ${key.revokedAt}, so nothing that it signs counts. Restart the worker with a new key that an operator has registered`,
    );
  };
}

function unusable(message: string): CountersignFailure {
  return CountersignFailure.retryable(message, FailureType.Backend);
}

interface Attestation {
  readonly kind: AttestedKind;
  readonly subject: string;
  readonly logicHash: string;
  readonly stagingSha: string | null;
  /** The complete input of the evaluation. The committer computes its digest again. */
  readonly given: { readonly [key: string]: JsonValue };
  readonly result: JsonValue;
  readonly record?: JsonObject;
}

/** Signs one record and returns its ledger row. The caller must append the row before it returns a result. */
export function attest(
  attestor: Attestor,
  ref: Pick<OpenedChange, 'changeId' | 'inputSha' | 'planHash'>,
  a: Attestation,
  at: string,
): LedgerEntry {
  const envelope = attestor.sign({
    kind: a.kind,
    subject: a.subject,
    changeId: ref.changeId,
    inputSha: ref.inputSha,
    stagingSha: a.stagingSha,
    planHash: ref.planHash,
    logicHash: a.logicHash,
    inputDigest: attestedInputDigest(a.kind, a.given),
    evaluatedAt: at,
    keyId: attestor.keyId,
    result: a.result as AttestedPredicate['result'],
    record: (a.record ?? {}) as AttestedPredicate['record'],
  });
  // Keyed by content, because a change can have several records of one kind; the strictest counts.
  return {
    kind: 'attested',
    at,
    factKey: `attested:${messageDigest(envelope)}`,
    body: { envelope: envelope as unknown as JsonObject },
  };
}
