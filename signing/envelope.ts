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

/** Signs a predicate. Throws TypeError where it is not valid, or names another signer than the key. */
export function signPredicate<K extends StatementKind>(kind: K, predicate: PredicateOf<K>, key: SigningKey): Envelope {
  const statement = statementOf(kind, predicate);
  const signer = signerOf(kind, predicate);
  if (signer !== key.keyId)
    throw new TypeError(`Cannot sign a ${kind} statement: it names key ${signer}, and the key at hand is ${key.keyId}`);
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
 * The predicate of an envelope of this kind that this key signed, or why it is not. Never throws on what the envelope holds;
 * throws TypeError where `publicKey` itself is none. Whether the key may sign such a thing is the registry's matter.
 */
export function verifyEnvelope<K extends StatementKind>(envelope: unknown, publicKey: string, kind: K): Verified<K> {
  return verifyOpened(openEnvelope(kind, envelope), publicKey, kind);
}

/** The same for an envelope that was opened already, to find its key. */
export function verifyOpened<K extends StatementKind>(
  opened: OpenedEnvelope<K>,
  publicKey: string,
  kind: K,
): Verified<K> {
  if (!opened.ok) return opened;
  const { predicate } = opened.statement;
  const keyId = keyIdOf(publicKey);
  if (opened.keyid !== keyId || signerOf(kind, predicate) !== keyId) {
    return { ok: false, code: 'wrong_key', message: `the envelope or its statement names another key than ${keyId}` };
  }
  if (!verify(null, opened.signed, toPublicKeyObject(publicKey), opened.signature)) {
    return { ok: false, code: 'bad_signature', message: `the signature is not of key ${keyId}` };
  }
  return { ok: true, predicate };
}
