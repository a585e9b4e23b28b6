import { ed25519 } from '@noble/curves/ed25519.js';
import type { Envelope } from '../../policy/contracts/diff';
import { toEnvelope } from '../../policy/evidence/dsse';
import { passkeyKeyId } from '../../policy/evidence/passkey-key';
import type { Enrollment, PasskeyEnrollment } from '../../policy/evidence/predicates';
import { statementOf } from '../../policy/evidence/statement';
import { verifyEnrolled, verifyLink, type VerifiedLink } from '../../signing/enrollment';
import {
  enrollmentLink,
  newOneTimeKey,
  oneTimeKeyOf,
  signPasskeyEnrollment,
  type OneTimeKey,
} from '../../signing/enrollment-link';
import { keyIdOf } from '../../signing/key-id';
import { newKeyPair } from '../../signing/keys';
import { signEnrollment, signKeyEntry, signKeyRevocation } from '../../signing/registry-entry';
import { registeredKey } from '../../signing/verify-review/registry-entries';
import { SAMPLES } from '../policy/evidence/samples';
import { ORIGIN, RP_ID, testPasskey } from '../support/passkey';

const AT = '2026-03-01T12:00:00.000Z';
const UNTIL = '2026-03-02T12:00:00.000Z';
const operator = newKeyPair();
const operators = [operator.publicKey];
const { key: made } = testPasskey('alice');
const credential = {
  credentialId: made.credentialId,
  publicKey: made.publicKey,
  enrolledAt: '2026-03-01T13:00:00.000Z',
};

const offerTo = (key: OneTimeKey, more: Partial<Enrollment> = {}, by = operator): Envelope =>
  signEnrollment(
    {
      keyId: key.keyId,
      publicKey: key.publicKey,
      subject: { type: 'person', id: 'alice' },
      tenants: ['acme'],
      rights: ['read', 'answer'],
      rpId: RP_ID,
      origins: [ORIGIN],
      demo: false,
      issuedAt: AT,
      expiresAt: UNTIL,
      ...more,
    },
    by,
  );
const linkOf = (offer: Envelope): VerifiedLink => {
  const link = verifyLink(offer, operators);
  if (typeof link === 'string') throw new Error(link);
  return link;
};
/** A statement of the one-time key with any contents. */
const statementBy = (key: OneTimeKey, more: Partial<PasskeyEnrollment>): Envelope =>
  toEnvelope(
    statementOf('passkey-enrollment', { ...SAMPLES['passkey-enrollment'], enrollmentKeyId: key.keyId, ...more }),
    key.keyId,
    (bytes) => ed25519.sign(bytes, key.seed),
  );

const key = newOneTimeKey();
const offer = offerTo(key);
const link = linkOf(offer);
const enrolled = signPasskeyEnrollment(key, offer, credential);

it('a link and the statement of its one-time key give the passkey of the person, with the rights of the link', () => {
  expect(verifyEnrolled(link, enrolled)).toEqual({
    keyId: passkeyKeyId(made),
    passkey: made,
    enrollmentKeyId: key.keyId,
    kind: 'approver',
    subject: { type: 'person', id: 'alice' },
    onBehalfOf: null,
    tenants: ['acme'],
    rights: ['read', 'answer'],
    demo: false,
    addedAt: credential.enrolledAt,
    operatorKeyId: operator.keyId,
  });
});

it('the private key of the link is in its fragment only, and the page finds it there', () => {
  const url = new URL(enrollmentLink('https://countersign.example', key));
  expect([url.origin, url.pathname, url.search]).toEqual(['https://countersign.example', '/inbox/', '']);
  expect(oneTimeKeyOf(url.hash)).toEqual(key);
  for (const bad of ['', '#enroll=', '#enroll=AAAA', `${url.hash}=`, '#other']) expect(oneTimeKeyOf(bad)).toBeNull();
  expect(() => signPasskeyEnrollment(newOneTimeKey(), offer, credential)).toThrow('not for the one-time key');
});

describe('a link does not count', () => {
  it('that no trusted operator signed', () => {
    const stranger = newKeyPair();
    expect(verifyLink(offerTo(key, {}, stranger), operators)).toContain('no trusted operator');
    expect(verifyLink(offer, [])).toContain('no trusted operator');
    expect(verifyLink({ ...offer, payload: offerTo(key, { tenants: ['*'] }).payload }, operators)).toContain(
      'operator',
    );
  });

  it('that is a registered key', () => {
    const { publicKey } = newKeyPair();
    const entry = signKeyEntry(
      {
        publicKey,
        kind: 'approver',
        subject: { type: 'person', id: 'alice' },
        onBehalfOf: null,
        tenants: ['acme'],
        rights: ['read'],
        demo: false,
        addedAt: AT,
      },
      operator,
    );
    expect(verifyLink(entry, operators)).toContain('no trusted operator');
  });

  it('whose key has small order, or another id', () => {
    const small = '01'.padEnd(64, '0');
    expect(verifyLink(offerTo(key, { publicKey: small, keyId: keyIdOf(small) }), operators)).toContain('small order');
    expect(verifyLink(offerTo(key, { publicKey: small }), operators)).toContain('does not match');
    expect(verifyLink(offerTo(key, { keyId: 'f'.repeat(64) }), operators)).toContain('does not match');
  });

  it.each<[string, Partial<Enrollment>]>([
    ['for more than 7 days', { expiresAt: '2026-03-08T12:00:00.001Z' }],
    ['that expires before it begins', { expiresAt: AT }],
    ['for no tenant', { tenants: [] }],
    ['without rights', { rights: [] }],
    ['with the right to submit', { rights: ['submit'] as never }],
    ['with the right to operate', { rights: ['read', 'operate'] as never }],
    ['for an agent', { subject: { type: 'agent', id: 'bot' } as never }],
    ['for an address', { rpId: '127.0.0.1', origins: ['http://127.0.0.1:8077'] }],
    ['for another origin than the relying party', { origins: ['https://evil.example'] }],
    ['for a host that only has the same ending', { origins: [`https://evil-${RP_ID}`] }],
    ['over http', { origins: [`http://${RP_ID}`] }],
    ['for an origin with a path', { origins: [`${ORIGIN}/inbox`] }],
  ])('%s, which cannot even be signed', (_what, more) => {
    expect(() => offerTo(key, more)).toThrow(TypeError);
  });
});

describe('a passkey is not enrolled', () => {
  const other = newOneTimeKey();
  const sha = link.enrollmentSha;
  const genuine = { ...credential, keyId: passkeyKeyId(made), enrollmentSha: sha };
  it.each<[string, () => Envelope, string]>([
    ['by the operator alone', () => offer, 'predicateType'],
    ['by another one-time key', () => signPasskeyEnrollment(other, offerTo(other), credential), 'must both name key'],
    ['by another key that names this link', () => statementBy(other, genuine), 'must both name key'],
    [
      'with a signature of another statement',
      () => ({ ...enrolled, payload: statementBy(key, { ...genuine, enrolledAt: AT }).payload }),
      'signature',
    ],
    [
      'with another link of the same key',
      () => signPasskeyEnrollment(key, offerTo(key, { tenants: ['*'] }), credential),
      'another link',
    ],
    [
      'with a key id of another passkey',
      () => statementBy(key, { ...genuine, keyId: testPasskey('bob').keyId }),
      'does not match the passkey',
    ],
    [
      'with a point that is not on the curve',
      () => {
        const publicKey = `a5010203262001215820${'1'.repeat(64)}225820${'1'.repeat(64)}`;
        return statementBy(key, { ...genuine, publicKey, keyId: passkeyKeyId({ ...made, publicKey }) });
      },
      'not a point',
    ],
    [
      'with a key of small order',
      () => {
        const publicKey = `a4010103272006215820${'01'.padEnd(64, '0')}`;
        return statementBy(key, { ...genuine, publicKey, keyId: passkeyKeyId({ ...made, publicKey }) });
      },
      'small order',
    ],
    [
      'after the link has expired',
      () => statementBy(key, { ...genuine, enrolledAt: '2026-03-02T12:00:00.001Z' }),
      'was valid from',
    ],
    [
      'before the link was made',
      () => statementBy(key, { ...genuine, enrolledAt: '2026-03-01T11:58:00.000Z' }),
      'was valid from',
    ],
  ])('%s', (_what, statement, message) => {
    expect(verifyEnrolled(link, statement())).toEqual(expect.stringContaining(message));
  });

  it('with an algorithm other than ES256 and EdDSA, or another encoding', () => {
    for (const publicKey of ['a50102032620', made.publicKey.toUpperCase(), `${made.publicKey}00`])
      expect(() => statementBy(key, { ...genuine, publicKey })).toThrow(TypeError);
  });
});

describe('a verifier with trusted operators', () => {
  const registration = { enrollment: offer, passkey: enrolled, revocation: null };

  it('derives the passkey from both statements', () => {
    expect(registeredKey(registration, operators, null)).toMatchObject({ keyId: passkeyKeyId(made), revokedAt: null });
    expect(() => registeredKey(registration, [newKeyPair().publicKey], null)).toThrow('no trusted operator');
    expect(() => registeredKey({ ...registration, passkey: offer }, operators, null)).toThrow('enrollment');
  });

  it('reads a revocation of the passkey or of its link, and no other', () => {
    const revoke = (keyId: string) => signKeyRevocation({ keyId, reason: 'lost', revokedAt: UNTIL }, operator);
    for (const keyId of [passkeyKeyId(made), key.keyId])
      expect(registeredKey({ ...registration, revocation: revoke(keyId) }, operators, null)).toMatchObject({
        revokedAt: UNTIL,
      });
  });

  it('counts a revocation of another key, or by another signer, only from the time that it is told', () => {
    const stranger = newKeyPair();
    const of = (keyId: string, by = operator) => signKeyRevocation({ keyId, reason: 'lost', revokedAt: UNTIL }, by);
    for (const revocation of [of('f'.repeat(64)), of(passkeyKeyId(made), stranger)])
      for (const since of [null, '2030-01-01T00:00:00.000Z'])
        expect(registeredKey({ ...registration, revocation }, operators, since).revokedAt).toBe(since);
  });
});
