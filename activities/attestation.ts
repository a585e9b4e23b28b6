import type { AttestedKind, AttestedPredicate } from '../policy/contracts/attested';
import { attestedInputDigest } from '../policy/contracts/attested';
import type { JsonObject, JsonValue } from '../policy/contracts/canonical-json';
import type { Envelope } from '../policy/contracts/diff';
import { messageDigest } from '../policy/evidence/dsse';
import type { LedgerEntry } from '../policy/evidence/ledger-port';
import type { ChangeRef } from './review-types';

/** Holds an attestor key: judge worker or review worker (records.md §8). */
export interface Attestor {
  readonly keyId: string;
  readonly sign: (predicate: AttestedPredicate) => Envelope;
}

export interface Attestation {
  readonly kind: AttestedKind;
  readonly subject: string;
  readonly logicHash: string;
  readonly stagingSha: string | null;
  /** Everything it was given; the committer recomputes its digest. */
  readonly given: { readonly [key: string]: JsonValue };
  readonly result: JsonValue;
  readonly record?: JsonObject;
}

/** Signs one record and makes its ledger row; the caller appends the row before it returns anything (records.md §4). */
export function attest(
  attestor: Attestor,
  ref: Pick<ChangeRef, 'changeId' | 'inputSha' | 'planHash'>,
  a: Attestation,
  at: string,
  actor: string,
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
  // Keyed by content: several records of one kind may stand for one change, and the strictest counts.
  return {
    kind: 'attested',
    at,
    actor,
    factKey: `attested:${messageDigest(envelope)}`,
    body: { envelope: envelope as unknown as JsonObject },
  };
}
