import type { RegisteredKey, RegisteredPasskey } from '../../policy/evidence/key-registry';

/** Whether the key is a passkey that can log in at this origin: a person's, not revoked, with the right to read. */
export function isUsablePasskey(key: RegisteredKey, origin: string): key is RegisteredPasskey {
  return (
    'passkey' in key &&
    key.kind === 'approver' &&
    key.subject.type === 'person' &&
    key.revokedAt === null &&
    key.rights.includes('read') &&
    key.passkey.origins.includes(origin)
  );
}
