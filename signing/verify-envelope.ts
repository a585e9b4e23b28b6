import { openEnvelope, type EnvelopeRefusal, type OpenedEnvelope } from '../policy/evidence/dsse';
import type { RegisteredKey } from '../policy/evidence/key-registry';
import { signerOf, type PredicateOf, type StatementKind } from '../policy/evidence/statement';
import { keyIdOf } from './key-id';
import { isValidSignature } from './known-signatures';
import { PASSKEY_KINDS, verifyPasskey, type PasskeyUse } from './passkey';
import { verifyEd25519 } from './verify-signature';

export type VerifyRefusal = EnvelopeRefusal | 'wrong_key' | 'bad_signature' | 'bad_passkey';
export type Verified<K extends StatementKind> =
  | {
      readonly ok: true;
      readonly predicate: PredicateOf<K>;
      /** Null if an Ed25519 key signed. */
      readonly passkeyUse: PasskeyUse | null;
    }
  | { readonly ok: false; readonly code: VerifyRefusal; readonly message: string };

/** A key of the registry, as far as signatures are verified with it. */
type VerifyingKey = RegisteredKey | { readonly keyId: string; readonly publicKey: string };

/**
 * Returns the predicate if the envelope is of this kind and signed by this Ed25519 key, or else the refusal. Never throws on the
 * contents of the envelope; throws TypeError if `publicKey` is malformed. Whether the key may sign this kind of statement is
 * checked by `verifyWithRegistry`.
 */
export function verifyEnvelope<K extends StatementKind>(envelope: unknown, publicKey: string, kind: K): Verified<K> {
  return verifyOpened(openEnvelope(kind, envelope), { keyId: keyIdOf(publicKey), publicKey }, kind);
}

/** Like `verifyEnvelope`, with a registered key of either scheme, for an envelope that was already opened to find its key. */
export function verifyOpened<K extends StatementKind>(
  opened: OpenedEnvelope<K>,
  key: VerifyingKey,
  kind: K,
): Verified<K> {
  const refuse = (code: VerifyRefusal, message: string): Verified<K> => ({ ok: false, code, message });
  if (!opened.ok) return opened;
  const { keyId } = key;
  const { predicate } = opened.statement;
  if (opened.keyid !== keyId || signerOf(kind, predicate) !== keyId)
    return refuse('wrong_key', `the envelope and its statement must both name key ${keyId}`);
  if (!('passkey' in key)) {
    if (opened.passkey !== null) return refuse('bad_passkey', `key ${keyId} is not a passkey`);
    const { publicKey } = key;
    const { signed, signature } = opened;
    return isValidSignature(publicKey, signed, signature, () => verifyEd25519(publicKey, signed, signature))
      ? { ok: true, predicate, passkeyUse: null }
      : refuse('bad_signature', `the signature is not valid for key ${keyId}`);
  }
  if (!PASSKEY_KINDS.has(kind)) return refuse('bad_passkey', `a passkey cannot sign a ${kind} statement`);
  const { passkey } = opened;
  if (passkey === null) return refuse('bad_passkey', `key ${keyId} is a passkey, and the envelope has no assertion`);
  const verified = verifyPasskey({ ...opened, passkey }, key.passkey);
  return verified.ok
    ? { ok: true, predicate, passkeyUse: verified.use }
    : refuse('bad_passkey', `passkey ${keyId}: ${verified.problem}`);
}
