import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { Envelope } from '../../policy/contracts/diff';
import { toBase64Url } from '../../policy/evidence/base64';
import type { RegisteredPasskey } from '../../policy/evidence/key-registry';
import { verifyEnrolled, verifyLink } from '../../signing/enrollment';
import { oneTimeKeyOf, signPasskeyEnrollment } from '../../signing/enrollment-link';
import { deepFreeze } from '../../policy/rules/deep-freeze';
import type { SigningKey } from '../../signing/keys';
import { signEnrollment } from '../../signing/registry-entry';
import { ORIGIN, RP_ID, testPasskey, type TestPasskey } from './passkey';

/** Deterministic passkey of a person, for the published vectors only: ES256 for alice, EdDSA for others. */
export function seededPasskey(person: string): TestPasskey {
  return testPasskey(person, { algorithm: person === 'alice' ? 'ES256' : 'EdDSA', seed: `vector ${person}` });
}

interface Enrolled {
  readonly entry: RegisteredPasskey;
  readonly statements: { readonly enrollment: Envelope; readonly passkey: Envelope };
}

const made = new Map<string, Enrolled>();

/** The passkey of `seededPasskey` as its person enrolled it, with the statements of both signers. */
export function enrolledPasskey(person: string, operator: SigningKey): Enrolled {
  const key = `${operator.keyId} ${person}`;
  const known = made.get(key) ?? enrolled(person, operator);
  made.set(key, known);
  return known;
}

function enrolled(person: string, operator: SigningKey): Enrolled {
  const key = oneTimeKeyOf(`#enroll=${toBase64Url(sha256(utf8ToBytes(`countersign test vector link: ${person}`)))}`);
  if (key === null) throw new Error('The seed of a one-time key has 32 bytes');
  const enrollment = signEnrollment(
    {
      keyId: key.keyId,
      publicKey: key.publicKey,
      subject: { type: 'person', id: person },
      tenants: ['*'],
      rights: ['read', 'answer'],
      rpId: RP_ID,
      origins: [ORIGIN],
      demo: false,
      issuedAt: '2026-01-01T00:00:00.000Z',
      expiresAt: '2026-01-02T00:00:00.000Z',
    },
    operator,
  );
  const { credentialId, publicKey } = seededPasskey(person).key;
  const made = { credentialId, publicKey, enrolledAt: '2026-01-01T01:00:00.000Z' };
  const passkey = signPasskeyEnrollment(key, enrollment, made);
  const link = verifyLink(enrollment, [operator.publicKey]);
  const entry = typeof link === 'string' ? link : verifyEnrolled(link, passkey);
  if (typeof entry === 'string') throw new Error(entry);
  return deepFreeze({ entry: { ...entry, revokedAt: null }, statements: { enrollment, passkey } });
}
