import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { p256 } from '@noble/curves/nist.js';
import type { AnswerPredicate } from '../../policy/contracts/answer';
import type { Envelope, PasskeyAssertion } from '../../policy/contracts/diff';
import { fromBase64, toBase64 } from '../../policy/evidence/base64';
import { loginChallenge, passkeyChallenge, statementDigest } from '../../policy/evidence/passkey-challenge';
import { cosePublicKeyOf, passkeyKeyId, spkiOf } from '../../policy/evidence/passkey-key';
import { PREDICATES, statementOf, type Statement, type StatementKind } from '../../policy/evidence/statement';
import { signEnvelope } from '../../signing/envelope';
import { assessAnswer, type AnswerScope } from '../../signing/assess-answer';
import { passkeyKeyProblem, verifyAssertion } from '../../signing/passkey';
import { verifyWithRegistry } from '../../signing/registry-verify';
import { SAMPLES } from '../policy/evidence/samples';
import { lookup, testKey } from '../support/keys';
import { ORIGIN, testPasskey, USER_PRESENT, USER_VERIFIED, type TestPasskey, type Touch } from '../support/passkey';

const sha = (letter: string): string => letter.repeat(64);
const NOW = '2026-03-01T12:00:00.000Z';
const dana = testPasskey('dana');
const edda = testPasskey('dana', { algorithm: 'EdDSA', seed: 'edda' });
const file = testKey('approver', 'dana');
const keys = lookup(dana, edda, file);
const need = { need: 'human' as const, group: 'dba', members: ['dana'], fourEyes: false };
const scope: AnswerScope = {
  changeId: sha('1'),
  context: { tenant: 'acme', target: 'shop', environment: 'production' },
  answersMode: 'signed',
  development: false,
  fingerprint: sha('2'),
  requester: 'rita',
  violations: [sha('a'), sha('b')].map((violationId) => ({ violationId, ...need })),
};

const statement = (keyId: string, more: Partial<AnswerPredicate> = {}): Statement =>
  statementOf('answer', {
    changeId: scope.changeId,
    fingerprint: sha('2'),
    violationId: sha('a'),
    decision: 'confirm',
    retracts: null,
    reason: 'seen',
    keyId,
    context: scope.context,
    coverage: 1,
    nonce: 'n'.repeat(20),
    issuedAt: '2026-03-01T11:59:00.000Z',
    expiresAt: '2026-03-01T12:30:00.000Z',
    ...more,
  });
const judge = (sent: unknown, at = NOW) => assessAnswer(sent, scope, keys, at);
const one = (by: TestPasskey, touch?: Touch): Envelope => by.sign([statement(by.keyId)], touch)[0]!;
const withPasskey = (envelope: Envelope, change: Partial<PasskeyAssertion>): Envelope => {
  const [only] = envelope.signatures;
  return { ...envelope, signatures: [{ ...only!, passkey: { ...only!.passkey!, ...change } }] };
};
const withSignature = (envelope: Envelope, sig: Uint8Array): Envelope => ({
  ...envelope,
  signatures: [{ ...envelope.signatures[0]!, sig: toBase64(sig) }],
});

describe('an answer that a passkey signed counts', () => {
  it.each([
    ['ES256', dana],
    ['EdDSA', edda],
  ])('with %s', (_name, by) => {
    expect(judge(one(by, { counter: 7 }))).toMatchObject({
      code: 'accepted',
      person: 'dana',
      keyId: by.keyId,
      passkeyUse: { counter: 7 },
    });
  });

  it('for each statement of one touch, whose assertion is the same', () => {
    const sent = dana.sign(
      [statement(dana.keyId), statement(dana.keyId, { violationId: sha('b'), nonce: 'm'.repeat(20) })],
      { counter: 3 },
    );
    const [a, b] = sent.map((envelope) => judge(envelope));
    expect([a, b]).toMatchObject([{ violationId: sha('a') }, { violationId: sha('b') }]);
    expect(a).toMatchObject({ code: 'accepted' });
    expect((a as { passkeyUse: object }).passkeyUse).toEqual((b as { passkeyUse: object }).passkeyUse);
  });

  it('with extensions and unknown members of clientDataJSON, which browsers add', () => {
    const flags = USER_PRESENT | USER_VERIFIED | 0x80;
    const touch = { flags, extensions: hexToBytes('a0'), clientData: { other_keys_can_be_added_here: 'x' } };
    expect(judge(one(dana, touch))).toMatchObject({ code: 'accepted' });
  });
});

describe.each([
  ['ES256', dana, testPasskey('dana', { seed: 'another' })],
  ['EdDSA', edda, testPasskey('dana', { algorithm: 'EdDSA', seed: 'another' })],
])('an assertion of %s that was valid before', (_name, by, other) => {
  const challenge = passkeyChallenge([sha('c')]);
  const assertion = by.assert(challenge);
  const verify = (changed: Partial<typeof assertion>, key = by.entry.passkey) =>
    verifyAssertion({ ...assertion, ...changed }, key, challenge);
  const changedAt = (bytes: Uint8Array, at: number): Uint8Array => bytes.map((b, i) => (i === at ? b ^ 1 : b));
  beforeEach(() => expect(verify({})).toMatchObject({ ok: true }));

  it.each<[string, () => ReturnType<typeof verify>]>([
    ['another key', () => verify({}, { ...by.entry.passkey, publicKey: other.entry.passkey.publicKey })],
    ['a changed signature', () => verify({ signature: changedAt(assertion.signature, assertion.signature.length - 1) })],
    ['another counter', () => verify({ authenticatorData: changedAt(assertion.authenticatorData, 36) })],
    ['more client data', () => verify({ clientDataJSON: utf8ToBytes(`${new TextDecoder().decode(assertion.clientDataJSON)} `) })],
  ])('is refused each time with %s', (_what, forged) => {
    for (let i = 0; i < 2; i++) expect(forged()).toEqual({ ok: false, problem: 'the signature is not valid' });
  }); // prettier-ignore
});

describe('an assertion is refused', () => {
  const flip = (bytes: Uint8Array, at: number): Uint8Array => bytes.map((byte, i) => (i === at ? byte ^ 1 : byte));
  const sigOf = (envelope: Envelope): Uint8Array => fromBase64(envelope.signatures[0]!.sig)!;
  it.each<[string, () => Envelope, string]>([
    ['for another challenge', () => one(dana, { challenge: new Uint8Array(32) }), 'challenge'],
    [
      'that was made for a login',
      () => one(dana, { challenge: loginChallenge('A'.repeat(43)) }),
      'the challenge is another one',
    ],
    [
      'whose list lacks the statement',
      () => {
        const other = statement(dana.keyId, { reason: 'other' });
        const touch = dana.sign([other])[0]!;
        return { ...touch, payload: one(dana).payload };
      },
      'other statements',
    ],
    [
      'whose list was extended after the touch',
      () => {
        const envelope = one(dana);
        const statements = [...envelope.signatures[0]!.passkey!.statements, sha('f')];
        return withPasskey(envelope, { statements });
      },
      'challenge',
    ],
    ['from another origin', () => one(dana, { clientData: { origin: 'https://countersign.example.evil' } }), 'origin'],
    ['from the same host by http', () => one(dana, { clientData: { origin: 'http://countersign.example' } }), 'origin'],
    ['from a subdomain', () => one(dana, { clientData: { origin: 'https://x.countersign.example' } }), 'origin'],
    ['from an embedded page', () => one(dana, { clientData: { crossOrigin: true } }), 'embedded'],
    ['with a top origin', () => one(dana, { clientData: { topOrigin: ORIGIN } }), 'embedded'],
    ['with crossOrigin that is not a boolean', () => one(dana, { clientData: { crossOrigin: 'no' } }), 'embedded'],
    ['of a registration', () => one(dana, { clientData: { type: 'webauthn.create' } }), 'webauthn.get'],
    ['of a payment', () => one(dana, { clientData: { type: 'payment.get' } }), 'webauthn.get'],
    ['for another relying party', () => one(dana, { rpId: 'evil.example' }), 'relying party'],
    ['without user verification', () => one(dana, { flags: USER_PRESENT }), 'verify the person'],
    ['without user presence', () => one(dana, { flags: USER_VERIFIED }), 'not touched'],
    [
      'with the data of a registration',
      () => one(dana, { flags: USER_PRESENT | USER_VERIFIED | 0x40, extensions: new Uint8Array(60) }),
      'registration',
    ],
    ['with bytes after authenticatorData', () => one(dana, { extensions: new Uint8Array(1) }), 'wrong length'],
    ['with a changed signature', () => withSignature(one(dana), flip(sigOf(one(dana)), 12)), 'signature'],
    ['with a signature that is not DER', () => withSignature(one(dana), sigOf(one(edda))), 'signature'],
    [
      'with a byte after the DER signature',
      () => withSignature(one(dana), Uint8Array.of(...sigOf(one(dana)), 0)),
      'signature',
    ],
    ['with an ES256 signature of an EdDSA passkey', () => withSignature(one(edda), sigOf(one(dana))), 'signature'],
    [
      'with changed flags',
      () => {
        const envelope = one(dana, { flags: USER_PRESENT });
        const data = fromBase64(envelope.signatures[0]!.passkey!.authenticatorData)!;
        data[32] = USER_PRESENT | USER_VERIFIED;
        return withPasskey(envelope, { authenticatorData: toBase64(data) });
      },
      'signature',
    ],
    [
      'with clientDataJSON of another order',
      () => {
        const envelope = one(dana);
        const text = Buffer.from(envelope.signatures[0]!.passkey!.clientDataJSON, 'base64').toString();
        const { type, challenge, ...rest } = JSON.parse(text) as Record<string, unknown>;
        const swapped = Buffer.from(JSON.stringify({ challenge, type, ...rest })).toString('base64');
        return withPasskey(envelope, { clientDataJSON: swapped });
      },
      'signature',
    ],
    [
      'with a member twice',
      () => one(dana, { clientDataText: (text) => text.replace('{', '{"origin":"https://evil.example",') }),
      'duplicate key',
    ],
    [
      'with a member twice, once escaped',
      () => one(dana, { clientDataText: (text) => text.replace('{', '{"\\u006frigin":"https://evil.example",') }),
      'duplicate key',
    ],
    ['with clientDataJSON that is not JSON', () => one(dana, { clientDataText: () => 'x' }), 'clientDataJSON'],
    ['with clientDataJSON that is a list', () => one(dana, { clientDataText: (text) => `[${text}]` }), 'not an object'],
  ])('%s', (_what, sent, message) => {
    expect(judge(sent())).toMatchObject({ code: 'bad_signature', message: expect.stringContaining(message) });
  });

  it.each<[string, Partial<PasskeyAssertion>]>([
    ['no statements', { statements: [] }],
    ['51 statements', { statements: Array.from({ length: 51 }, (_, i) => i.toString(16).padStart(64, '0')) }],
    ['a statement twice', { statements: [sha('1'), sha('1')] }],
    ['too much authenticatorData', { authenticatorData: 'AAAA'.repeat(400) }],
    ['too much clientDataJSON', { clientDataJSON: 'AAAA'.repeat(1400) }],
    ['another member', { userHandle: 'AAAA' } as object],
  ])('as malformed with %s', (_what, change) => {
    expect(judge(withPasskey(one(dana), change))).toMatchObject({ code: 'malformed' });
  });
});

describe('the two kinds of keys are never mixed', () => {
  const passkeyOf = (envelope: Envelope): PasskeyAssertion => envelope.signatures[0]!.passkey!;

  it('an Ed25519 key with an assertion is refused', () => {
    const envelope = signEnvelope(statement(file.keyId), file);
    const mixed = { ...envelope, signatures: [{ ...envelope.signatures[0]!, passkey: passkeyOf(one(dana)) }] };
    expect(judge(envelope)).toMatchObject({ code: 'accepted', passkeyUse: null });
    expect(judge(mixed)).toMatchObject({ code: 'bad_signature', message: expect.stringContaining('not a passkey') });
  });

  it('a passkey without an assertion is refused, also with a valid signature of the plain statement', () => {
    const { passkey: _dropped, ...only } = one(dana).signatures[0]!;
    expect(judge({ ...one(dana), signatures: [only] })).toMatchObject({ code: 'bad_signature' });
  });

  it('the key id of an EdDSA passkey is not that of an Ed25519 key', () => {
    expect(new Set([edda.keyId, passkeyKeyId({ ...edda.key, rpId: 'other.example' }), dana.keyId]).size).toBe(3);
  });

  it.each((Object.keys(PREDICATES) as StatementKind[]).filter((kind) => kind !== 'answer' && kind !== 'withdraw'))(
    'a passkey cannot sign a statement of kind %s',
    (kind) => {
      const signer = { keyId: dana.keyId, operatorKeyId: dana.keyId, enrollmentKeyId: dana.keyId };
      const members = Object.fromEntries(Object.entries(signer).filter(([name]) => name in SAMPLES[kind]));
      const [envelope] = dana.sign([statementOf(kind, { ...SAMPLES[kind], ...members } as never)]);
      const verified = verifyWithRegistry(envelope, kind, {
        keys: lookup({ entry: dana.entry }),
        keyKind: 'approver',
        development: false,
        use: null,
      });
      expect(verified).toMatchObject({ ok: false, code: 'bad_passkey' });
    },
  );

  it('a revoked passkey, a demo passkey and one without the right are refused', () => {
    const codeOf = (entry: Partial<TestPasskey['entry']>): string =>
      assessAnswer(one(dana), scope, lookup({ entry: { ...dana.entry, ...entry } }), NOW).code;
    expect(codeOf({ revokedAt: NOW })).toBe('revoked_key');
    expect(codeOf({ demo: true })).toBe('demo_key');
    expect(codeOf({ rights: ['read'] })).toBe('not_eligible');
    expect(codeOf({ tenants: ['other'] })).toBe('not_eligible');
    expect(codeOf({ subject: { type: 'person', id: 'eve' } })).toBe('not_eligible');
  });
});

describe('challenges', () => {
  it('of answers and logins have no input in common', () => {
    const digests = [statementDigest(statement(dana.keyId))];
    expect(passkeyChallenge(digests)).toHaveLength(32);
    expect(loginChallenge(JSON.stringify(digests))).not.toEqual(passkeyChallenge(digests));
  });

  it('of a login is accepted for a login only', () => {
    const challenge = loginChallenge('nonce');
    expect(verifyAssertion(dana.assert(challenge), dana.key, challenge)).toMatchObject({ ok: true });
    expect(verifyAssertion(dana.assert(challenge), dana.key, loginChallenge('other'))).toMatchObject({ ok: false });
  });
});

describe('the public key of a passkey', () => {
  const point = p256.getPublicKey(new Uint8Array(32).fill(3), false).slice(1);
  const cose = cosePublicKeyOf(spkiOf({ algorithm: 'ES256', point }))!;

  it('is read from what a browser returns, in one encoding only', () => {
    expect(passkeyKeyProblem(cose)).toBeNull();
    for (const bad of ['', cose.toUpperCase(), `${cose}00`, cose.replace('a501', 'a601'), cose.replace('0326', '0327')])
      expect(passkeyKeyProblem(bad)).toContain('not a COSE key');
    expect(cosePublicKeyOf(spkiOf({ algorithm: 'ES256', point: point.slice(1) }))).toBeNull();
  });

  it('is refused off the curve or of small order', () => {
    const off = cose.slice(0, -1) + (cose.endsWith('0') ? '1' : '0');
    expect(passkeyKeyProblem(off)).toContain('not a point');
    expect(passkeyKeyProblem(`a4010103272006215820${'01'.padEnd(64, '0')}`)).toContain('small order');
    expect(passkeyKeyProblem(`a4010103272006215820${'f'.repeat(64)}`)).toContain('not the canonical encoding');
  });
});
