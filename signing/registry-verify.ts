import { openEnvelope } from '../policy/evidence/dsse';
import { mayUse, type KeyLookup, type KeyUse, type RegisteredKey } from '../policy/evidence/key-registry';
import type { KeyKind } from '../policy/evidence/predicates';
import type { PredicateOf, StatementKind } from '../policy/evidence/statement';
import type { PasskeyUse } from './passkey';
import { verifyOpened, type VerifyRefusal } from './verify-envelope';

export type RegistryRefusal =
  VerifyRefusal | 'unknown_key' | 'revoked_key' | 'demo_key' | 'wrong_key_kind' | 'not_permitted';
type RegistryVerified<K extends StatementKind> =
  | {
      readonly ok: true;
      readonly predicate: PredicateOf<K>;
      readonly key: RegisteredKey;
      /** Null if an Ed25519 key signed. */
      readonly passkeyUse: PasskeyUse | null;
    }
  | { readonly ok: false; readonly code: RegistryRefusal; readonly message: string };

/**
 * Verifies that the envelope is of this kind and signed by an active registered key of the given kind. Demo keys are accepted
 * only if `development` is true. `use`: the right and tenant that the entry of the key must grant; null for keys of our processes.
 */
export function verifyWithRegistry<K extends StatementKind>(
  envelope: unknown,
  kind: K,
  expected: {
    readonly keys: KeyLookup;
    readonly keyKind: KeyKind;
    readonly development: boolean;
    readonly use: KeyUse | null;
  },
): RegistryVerified<K> {
  const refuse = (code: RegistryRefusal, message: string): RegistryVerified<K> => ({ ok: false, code, message });
  const opened = openEnvelope(kind, envelope);
  if (!opened.ok) return opened;
  const key = expected.keys(opened.keyid);
  if (key === undefined) return refuse('unknown_key', `key ${opened.keyid} is not in the registry`);
  const verified = verifyOpened(opened, key, kind);
  if (!verified.ok) return verified;
  if (key.kind !== expected.keyKind)
    return refuse('wrong_key_kind', `key ${key.keyId} is registered as ${key.kind}, expected ${expected.keyKind}`);
  if (key.revokedAt !== null) return refuse('revoked_key', `key ${key.keyId} was revoked at ${key.revokedAt}`);
  if (key.demo && !expected.development)
    return refuse('demo_key', `key ${key.keyId} is a demo key, which is only valid for development targets`);
  if (expected.use !== null && !mayUse(key, expected.use))
    return refuse(
      'not_permitted',
      `key ${key.keyId} is not registered with the right "${expected.use.right}" in tenant "${expected.use.tenant}"`,
    );
  return { ...verified, key };
}

type KeyRefusalCode = 'unknown_key' | 'revoked_key' | 'demo_key' | 'not_eligible' | 'bad_signature' | 'malformed';

/** The result code that the sender of an answer or a withdrawal receives for a refused envelope. */
export function refusalCode(code: RegistryRefusal): KeyRefusalCode {
  switch (code) {
    case 'unknown_key':
    case 'revoked_key':
    case 'demo_key':
      return code;
    case 'wrong_key_kind':
    case 'not_permitted':
      return 'not_eligible';
    case 'wrong_key':
    case 'bad_signature':
    case 'bad_passkey':
      return 'bad_signature';
    case 'malformed':
    case 'not_utf8':
    case 'not_json':
    case 'not_canonical':
    case 'wrong_kind':
    case 'invalid_statement':
      return 'malformed';
    default:
      return code satisfies never;
  }
}
