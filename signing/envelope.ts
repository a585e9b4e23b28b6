import { sign, verify } from 'node:crypto';
import type { Envelope } from '../policy/contracts/diff';
import { openEnvelope, toEnvelope, type EnvelopeRefusal, type OpenedEnvelope } from '../policy/evidence/dsse';
import {
  signerOf,
  statementOf,
  type PredicateOf,
  type Statement,
  type StatementKind,
} from '../policy/evidence/statement';
import { keyIdOf, toPublicKeyObject, type SigningKey } from './keys';

/** Signs a predicate. Throws TypeError if it is not valid or names another signer than `key`. */
export function signPredicate<K extends StatementKind>(kind: K, predicate: PredicateOf<K>, key: SigningKey): Envelope {
  const statement = statementOf(kind, predicate);
  const signer = signerOf(kind, predicate);
  if (signer !== key.keyId)
    throw new TypeError(`Cannot sign a ${kind} statement: expected signer ${key.keyId}, got ${signer}`);
  return signEnvelope(statement, key);
}

export function signEnvelope(statement: Statement, key: SigningKey): Envelope {
  return toEnvelope(statement, key.keyId, (bytes) => sign(null, bytes, key.privateKey));
}

export type VerifyRefusal = EnvelopeRefusal | 'wrong_key' | 'bad_signature';
export type Verified<K extends StatementKind> =
  | { readonly ok: true; readonly predicate: PredicateOf<K> }
  | { readonly ok: false; readonly code: VerifyRefusal; readonly message: string };

/**
 * Returns the predicate if the envelope is of this kind and signed by this key, or else the refusal. Never throws on the
 * contents of the envelope; throws TypeError if `publicKey` is malformed. Whether the key may sign this kind of statement is
 * checked by `verifyWithRegistry`.
 */
export function verifyEnvelope<K extends StatementKind>(envelope: unknown, publicKey: string, kind: K): Verified<K> {
  return verifyOpened(openEnvelope(kind, envelope), publicKey, kind);
}

/** Like `verifyEnvelope`, for an envelope that was already opened to find its key. */
export function verifyOpened<K extends StatementKind>(
  opened: OpenedEnvelope<K>,
  publicKey: string,
  kind: K,
): Verified<K> {
  if (!opened.ok) return opened;
  const { predicate } = opened.statement;
  const keyId = keyIdOf(publicKey);
  if (opened.keyid !== keyId || signerOf(kind, predicate) !== keyId) {
    return { ok: false, code: 'wrong_key', message: `the envelope and its statement must both name key ${keyId}` };
  }
  if (!verify(null, opened.signed, toPublicKeyObject(publicKey), opened.signature)) {
    return { ok: false, code: 'bad_signature', message: `the signature is not valid for key ${keyId}` };
  }
  return { ok: true, predicate };
}
