import { sign } from 'node:crypto';
import fc from 'fast-check';
import type { Envelope, Submission } from '../../policy/contracts/diff';
import { changeId, inputSha } from '../../policy/contracts/change-id';
import { fromBase64, toBase64 } from '../../policy/evidence/base64';
import { PREDICATES, statementOf, type PredicateOf, type StatementKind } from '../../policy/evidence/statement';
import { signEnvelope, signPredicate } from '../../signing/envelope';
import { verifyEnvelope } from '../../signing/verify-envelope';
import { newKeyPair } from '../../signing/keys';
import { newNonce } from '../../signing/nonce';
import { verifyWithRegistry } from '../../signing/registry-verify';
import { verifySubmission } from '../../signing/verify-submission';
import { SAMPLES } from '../policy/evidence/samples';
import { lookup, testKey } from '../support/keys';

const KINDS = Object.keys(PREDICATES) as StatementKind[];
const key = newKeyPair();
const signer = (kind: StatementKind): object => {
  if (kind === 'passkey-enrollment') return { enrollmentKeyId: key.keyId };
  return ['key', 'key-revocation', 'enrollment'].includes(kind) ? { operatorKeyId: key.keyId } : { keyId: key.keyId };
};
const sample = <K extends StatementKind>(kind: K): PredicateOf<K> => ({ ...SAMPLES[kind], ...signer(kind) });

it.each(KINDS)('verifies a signed statement of kind %s, and only as that kind', (kind) => {
  const envelope = signPredicate(kind, sample(kind), key);
  expect(verifyEnvelope(envelope, key.publicKey, kind)).toEqual({
    ok: true,
    predicate: sample(kind),
    passkeyUse: null,
  });
  for (const other of KINDS.filter((k) => k !== kind))
    expect(verifyEnvelope(envelope, key.publicKey, other)).toMatchObject({ ok: false, code: 'wrong_kind' });
});

it('refuses every single flipped bit of payload and signature without throwing', () => {
  const envelope = signPredicate('answer', sample('answer'), key);
  const flip = (text: string, bit: number): string => {
    const bytes = fromBase64(text) ?? fail('not base64');
    const at = bit % (bytes.length * 8);
    bytes[at >> 3] = (bytes[at >> 3] ?? 0) ^ (1 << (at & 7));
    return toBase64(bytes);
  };
  const signature = envelope.signatures[0] ?? fail('no signature');
  for (let bit = 0; bit < 512; bit++) {
    const forged: Envelope = { ...envelope, signatures: [{ ...signature, sig: flip(signature.sig, bit) }] };
    expect(verifyEnvelope(forged, key.publicKey, 'answer')).toMatchObject({ ok: false, code: 'bad_signature' });
  }
  fc.assert(
    fc.property(
      fc.nat({ max: 100_000 }),
      (bit) => !verifyEnvelope({ ...envelope, payload: flip(envelope.payload, bit) }, key.publicKey, 'answer').ok,
    ),
  );
});

it('refuses a signature with S increased by the group order, so that signatures are not malleable', () => {
  const L = 2n ** 252n + 27742317777372353535851937790883648493n;
  const envelope = signPredicate('answer', sample('answer'), key);
  const bytes = Buffer.from(envelope.signatures[0]?.sig ?? '', 'base64');
  let s = 0n;
  for (let i = 63; i >= 32; i--) s = (s << 8n) | BigInt(bytes[i] ?? 0);
  for (let i = 32, rest = s + L; i < 64; i++, rest >>= 8n) bytes[i] = Number(rest & 0xffn);
  expect(
    verifyEnvelope(
      { ...envelope, signatures: [{ keyid: key.keyId, sig: bytes.toString('base64') }] },
      key.publicKey,
      'answer',
    ),
  ).toMatchObject({ code: 'bad_signature' });
});

it('refuses a valid signature if envelope or statement name another key', () => {
  const other = newKeyPair();
  const envelope = signPredicate('answer', sample('answer'), key);
  expect(verifyEnvelope(envelope, other.publicKey, 'answer')).toMatchObject({ ok: false, code: 'wrong_key' });
  expect(
    verifyEnvelope(
      { ...envelope, signatures: [{ keyid: other.keyId, sig: envelope.signatures[0]?.sig }] },
      key.publicKey,
      'answer',
    ),
  ).toMatchObject({ code: 'wrong_key' });
  expect(() => signPredicate('answer', SAMPLES.answer, key)).toThrow('expected signer');
  expect(
    verifyEnvelope(signEnvelope(statementOf('answer', SAMPLES.answer), key), key.publicKey, 'answer'),
  ).toMatchObject({ code: 'wrong_key' });
});

it('refuses a signature over the plain payload without the pre-authentication encoding', () => {
  const envelope = signPredicate('answer', sample('answer'), key);
  const sig = sign(null, Buffer.from(envelope.payload, 'base64'), key.privateKey).toString('base64');
  expect(
    verifyEnvelope({ ...envelope, signatures: [{ keyid: key.keyId, sig }] }, key.publicKey, 'answer'),
  ).toMatchObject({ code: 'bad_signature' });
});

describe('verification with the registry', () => {
  const committer = testKey('committer', 'committer');
  const receipt = signPredicate('receipt', { ...SAMPLES.receipt, keyId: committer.keyId }, committer);
  const check = (entry: Partial<typeof committer.entry> | null, development = false) =>
    verifyWithRegistry(receipt, 'receipt', {
      keys: entry === null ? lookup() : lookup({ entry: { ...committer.entry, ...entry } }),
      keyKind: 'committer',
      development,
      use: null,
    });

  it('accepts a receipt of an active committer key, and returns the key', () => {
    expect(check({})).toMatchObject({ ok: true, key: { keyId: committer.keyId }, predicate: { state: 'COMMITTED' } });
  });

  it.each([
    ['unknown_key', null],
    ['revoked_key', { revokedAt: '2026-01-02T03:04:05.000Z' }],
    ['wrong_key_kind', { kind: 'attestor' as const }],
    ['demo_key', { demo: true }],
  ] as const)('refuses a key with the code %s', (code, entry) => {
    expect(check(entry)).toMatchObject({ ok: false, code });
  });

  it('accepts a demo key for a development target', () => {
    expect(check({ demo: true }, true)).toMatchObject({ ok: true });
  });
});

describe('a submission', () => {
  const service = testKey('service', 'backend', { onBehalfOf: 'rita' });
  const base: Submission = {
    tenant: 'acme',
    target: 'shop',
    sourceTool: 'SQLCAS',
    diffSha: 'd'.repeat(64),
    metadata: { rows: 1 },
    requestKey: '',
  };
  const predicate = (s: Submission): PredicateOf<'submission'> => ({
    changeId: changeId(s),
    inputSha: inputSha(s),
    keyId: service.keyId,
    onBehalfOf: 'rita',
    supersedes: s.supersedes ?? null,
    nonce: newNonce(),
    issuedAt: '2026-01-02T03:04:05.000Z',
  });
  const signed = (s: Submission, more: Partial<PredicateOf<'submission'>> = {}): Submission => ({
    ...s,
    envelope: signPredicate('submission', { ...predicate(s), ...more }, service),
  });
  const check = (s: Submission, keys = lookup(service)) => verifySubmission(s, { keys, development: false });

  it('returns the person behind the service key from the registry', () => {
    expect(check(signed(base))).toMatchObject({ ok: true, requester: 'rita', keyId: service.keyId });
  });

  it('has no requester without a signature', () => {
    expect(check(base)).toMatchObject({ ok: false, code: 'unsigned' });
  });

  it('is refused if any submitted member differs from the signed one', () => {
    const good = signed(base);
    const changes: Partial<Submission>[] = [
      { tenant: 'b' },
      { target: 'b' },
      { sourceTool: 'B' },
      { diffSha: 'e'.repeat(64) },
      { metadata: {} },
      { requestKey: '2' },
    ];
    for (const change of changes)
      expect(check({ ...good, ...change })).toMatchObject({ ok: false, code: 'wrong_change' });
    expect(check(signed(base, { inputSha: 'f'.repeat(64) }))).toMatchObject({ ok: false, code: 'wrong_change' });
  });

  it('is refused if it names another person than the registry, or is not signed by a service key', () => {
    expect(check(signed(base, { onBehalfOf: 'dana' }))).toMatchObject({ ok: false, code: 'wrong_change' });
    expect(check(signed(base, { onBehalfOf: null }))).toMatchObject({ ok: false, code: 'wrong_change' });
    expect(check(signed(base), lookup({ entry: { ...service.entry, kind: 'approver' } }))).toMatchObject({
      ok: false,
      code: 'wrong_key_kind',
    });
  });
});
