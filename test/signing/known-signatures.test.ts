import { sign } from 'node:crypto';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Envelope } from '../../policy/contracts/diff';
import { fromBase64, toBase64 } from '../../policy/evidence/base64';
import { statementOf } from '../../policy/evidence/statement';
import { signEnvelope, signPredicate } from '../../signing/envelope';
import { assertPublicKey, keyIdOf, keyProblem } from '../../signing/key-id';
import { newKeyPair } from '../../signing/keys';
import { isValidSignature } from '../../signing/known-signatures';
import { verifyWithRegistry } from '../../signing/registry-verify';
import { signedBy, signedByOperator } from '../../signing/signed-by';
import { verifyEnvelope } from '../../signing/verify-envelope';
import { verifyEd25519 } from '../../signing/verify-signature';
import { SAMPLES } from '../policy/evidence/samples';
import { lookup, testKey, type TestKey } from '../support/keys';

const [key, other] = [newKeyPair(), newKeyPair()];
const MESSAGE = utf8ToBytes('the signed bytes');
const SIGNATURE = new Uint8Array(sign(null, MESSAGE, key.privateKey));

describe('a signature that was valid before', () => {
  let verified = 0;
  const isValid = (publicKey: string, message: Uint8Array, signature: Uint8Array): boolean =>
    isValidSignature(publicKey, message, signature, () => {
      verified++;
      return verifyEd25519(publicKey, message, signature);
    });
  beforeEach(() => {
    isValid(key.publicKey, MESSAGE, SIGNATURE);
    verified = 0;
  });

  it('is not verified again', () => {
    expect(isValid(key.publicKey, MESSAGE, SIGNATURE)).toBe(true);
    expect(verified).toBe(0);
  });

  const flipped = SIGNATURE.map((byte, i) => (i === 63 ? byte ^ 1 : byte));
  const longer = concatBytes(MESSAGE, utf8ToBytes('!'));
  it.each<[string, string, Uint8Array, Uint8Array]>([
    ['another key', other.publicKey, MESSAGE, SIGNATURE],
    ['a tampered signature', key.publicKey, MESSAGE, flipped],
    ['a cut signature', key.publicKey, MESSAGE, SIGNATURE.subarray(0, 63)],
    ['no signature', key.publicKey, MESSAGE, new Uint8Array()],
    ['another message with the same prefix', key.publicKey, longer, SIGNATURE],
    ['a prefix of the message', key.publicKey, MESSAGE.subarray(0, -1), SIGNATURE],
  ])('is verified again, and refused each time, with %s', (_what, publicKey, message, signature) => {
    expect([1, 2].map(() => isValid(publicKey, message, signature))).toEqual([false, false]);
    expect(verified).toBe(2);
  });
});

describe('an envelope that was verified before', () => {
  const signed = (by: TestKey): Envelope => signPredicate('answer', { ...SAMPLES.answer, keyId: by.keyId }, by);
  const verify = (envelope: unknown, by: Pick<TestKey, 'entry'>) =>
    verifyWithRegistry(envelope, 'answer', { keys: lookup(by), keyKind: 'approver', development: false, use: null });
  const alice = testKey('approver', 'alice');
  const envelope = signed(alice);
  const [{ sig } = { sig: '' }] = envelope.signatures;
  beforeEach(() => expect(verify(envelope, alice)).toMatchObject({ ok: true }));

  it('is refused as soon as its key is revoked, is of another kind, or lost the right', () => {
    const revoked = { entry: { ...alice.entry, revokedAt: '2026-01-03T00:00:00.000Z' } };
    expect(verify(envelope, revoked)).toMatchObject({ ok: false, code: 'revoked_key' });
    expect(verify(envelope, { entry: { ...alice.entry, kind: 'service' } })).toMatchObject({ code: 'wrong_key_kind' });
    expect(verify(envelope, { entry: { ...alice.entry, demo: true } })).toMatchObject({ code: 'demo_key' });
    expect(verify(envelope, testKey('approver', 'bob'))).toMatchObject({ ok: false, code: 'unknown_key' });
  });

  it('is refused if the registry has another public key under its key id', () => {
    const replaced = { entry: { ...alice.entry, publicKey: other.publicKey } };
    expect(verify(envelope, replaced)).toMatchObject({ ok: false, code: 'bad_signature' });
  });

  it('is refused with another payload, signature or key id, and as another kind of statement', () => {
    const changed = { ...SAMPLES.answer, keyId: alice.keyId, reason: `${SAMPLES.answer.reason}.` };
    const { payload } = signPredicate('answer', changed, alice);
    expect(verify({ ...envelope, payload }, alice)).toMatchObject({ ok: false, code: 'bad_signature' });
    const bytes = fromBase64(sig) ?? new Uint8Array();
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    const forged = { ...envelope, signatures: [{ keyid: alice.keyId, sig: toBase64(bytes) }] };
    expect(verify(forged, alice)).toMatchObject({ ok: false, code: 'bad_signature' });
    const bob = testKey('approver', 'bob');
    const renamed = { ...envelope, signatures: [{ keyid: bob.keyId, sig }] };
    expect(verify(renamed, bob)).toMatchObject({ ok: false, code: 'wrong_key' });
    expect(verifyEnvelope(envelope, alice.publicKey, 'receipt')).toMatchObject({ ok: false, code: 'wrong_kind' });
  });
});

it('a public key that was found valid does not make another one valid, nor its id that of another one', () => {
  assertPublicKey(key.publicKey);
  expect([1, 2].map(() => keyProblem(key))).toEqual([null, null]);
  expect(keyIdOf(key.publicKey)).toBe(key.keyId);
  expect(keyProblem({ keyId: other.keyId, publicKey: key.publicKey })).toMatch('does not match');
  for (const bad of [`${key.publicKey}00`, key.publicKey.toUpperCase(), key.publicKey.slice(2), '0'.repeat(64)]) {
    for (let i = 0; i < 2; i++) expect(() => assertPublicKey(bad)).toThrow(TypeError);
    expect(keyIdOf(bad)).not.toBe(key.keyId);
  }
});

it('a statement that names one trusted key and was signed by another one is refused', () => {
  const trusted = [key.publicKey, other.publicKey];
  const predicate = { ...SAMPLES['target-freeze'], keyId: other.keyId };
  const valid = signPredicate('target-freeze', predicate, other);
  const forged = signEnvelope(statementOf('target-freeze', predicate), key);
  const renamed = {
    ...forged,
    signatures: forged.signatures.map((signature) => ({ ...signature, keyid: other.keyId })),
  };
  expect(signedByOperator('target-freeze', valid, trusted)).toEqual(predicate);
  expect(signedBy('target-freeze', valid, trusted, 'operator')).toMatchObject({ ok: true, predicate });
  for (const envelope of [forged, renamed]) {
    expect(signedByOperator('target-freeze', envelope, trusted)).toBeNull();
    expect(signedBy('target-freeze', envelope, trusted, 'operator')).toMatchObject({ ok: false });
  }
});
