import type { RegisteredKey } from '../../policy/evidence/key-registry';
import { CountersignError } from '../../client/errors';
import { createSigner } from '../../client/signer';
import { prepareSubmission, signSubmission, type SubmitInput } from '../../client/submission';
import { MAX_DIFF_BYTES } from '../../policy/contracts/diff';
import { sha256HexOfText } from '../../policy/contracts/hash';
import { newKeyPair } from '../../signing/keys';
import { verifySubmission } from '../../signing/verify-submission';

const good: SubmitInput = { target: 'shop', sourceTool: 'SQLDryRun', raw: 'UPDATE t SET a = 1' };

function refusal(input: unknown): CountersignError {
  try {
    prepareSubmission(input as SubmitInput, 'acme');
  } catch (error) {
    if (error instanceof CountersignError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('a submission', () => {
  it.each<[string, object, string, string]>([
    ['0 bytes', { raw: '' }, 'raw', 'expected at least one byte, got 0 bytes'],
    [
      'too many bytes',
      { raw: new Uint8Array(MAX_DIFF_BYTES + 1) },
      'raw',
      `expected at most ${MAX_DIFF_BYTES} bytes, got ${MAX_DIFF_BYTES + 1}`,
    ],
    ['a lone surrogate', { raw: 'a\ud800' }, 'raw', 'got a lone surrogate'],
    ['an object instead of bytes', { raw: { sql: 'x' } }, 'raw', 'expected a string or Uint8Array, got an object'],
    ['metadata as a list', { metadata: [1] }, 'metadata', 'got an array of 1'],
    ['metadata as text', { metadata: 'rows' }, 'metadata', 'got "rows"'],
    ['metadata with undefined', { metadata: { a: undefined } }, 'metadata.a', 'got nothing'],
    ['metadata with a date', { metadata: { at: new Date() } }, 'metadata.at', 'got a Date'],
    ['metadata with a bigint', { metadata: { rows: 10n } }, 'metadata.rows', 'got'],
    ['metadata too large', { metadata: { a: 'x'.repeat(20_000) } }, 'metadata', 'expected at most 16384 bytes'],
    ['a target with a slash', { target: 'a/b' }, 'target', 'got "a/b"'],
    ['no source tool', { sourceTool: undefined }, 'sourceTool', 'got nothing'],
    ['a misspelt member', { requestkey: 'x' }, 'requestkey', 'unknown member'],
    ['an invalid id', { supersedes: 'abc' }, 'supersedes', 'got "abc"'],
    ['a bigint', { metadata: { rows: 1n } }, 'metadata.rows', 'got the bigint 1'],
    ['too much inline', { inline: true, raw: 'x'.repeat(70_000) }, 'raw', 'Omit `inline`'],
  ])(
    'with %s is refused before anything is sent, with field, expected and received value',
    (_name, bad, field, text) => {
      const error = refusal({ ...good, ...bad });
      expect(error.code).toBe('invalid_input');
      expect(error.field).toBe(field);
      expect(error.message).toContain(text);
      expect(error.message.length).toBeLessThan(2000);
    },
  );

  it.each(['my tenant', undefined])('names the tenant %p if it is invalid', (tenant) => {
    const made = (): unknown => prepareSubmission(good, tenant as string);
    expect(made).toThrow(expect.objectContaining({ code: 'invalid_input', field: 'tenant' }));
  });

  it.each([undefined, 'agent.key.json', { ...newKeyPair(), privateKey: undefined }])(
    'is not signed with %p instead of a key',
    (key) => {
      const made = (): unknown => createSigner(key as never);
      expect(made).toThrow(expect.objectContaining({ code: 'invalid_input', field: expect.stringMatching(/^key/) }));
      expect(made).toThrow(/expected .* readKeyFile/);
    },
  );

  it('has the same change id for the same change, and a different one for a different key, byte, tenant or claim', () => {
    const id = (change: Partial<SubmitInput> = {}, tenant = 'acme'): string =>
      prepareSubmission({ ...good, ...change }, tenant).changeId;
    expect(id()).toBe(id({ raw: Buffer.from('UPDATE t SET a = 1') }));
    expect(
      new Set([
        id(),
        id({ requestKey: 'again' }),
        id({ raw: 'UPDATE t SET a = 2' }),
        id({}, 'other'),
        id({ metadata: { affected_rows: 1 } }),
        id({ target: 'other' }),
      ]).size,
    ).toBe(6);
    // Not part of inputSha: they do not affect the review.
    expect(id({ replyTo: { workflowId: 'w' } })).toBe(id());
  });

  it('keeps a copy of the bytes: the caller may overwrite its buffer', () => {
    const raw = Buffer.from('UPDATE t SET a = 1');
    const prepared = prepareSubmission({ ...good, raw }, 'acme');
    raw.fill(0);
    expect(new TextDecoder().decode(prepared.bytes)).toBe('UPDATE t SET a = 1');
    expect(prepared.submission.diffSha).toBe(sha256HexOfText('UPDATE t SET a = 1'));
  });

  it('is signed for the requester and for this change only, by a key that may submit in this tenant', () => {
    const key = newKeyPair();
    const entry: RegisteredKey = {
      keyId: key.keyId,
      publicKey: key.publicKey,
      kind: 'service',
      subject: { type: 'agent', id: 'bot' },
      onBehalfOf: 'carol',
      tenants: ['acme'],
      rights: ['submit'],
      demo: false,
      addedAt: '2026-11-20T10:00:00.000Z',
      operatorKeyId: key.keyId,
      revokedAt: null,
    };
    const signer = createSigner({ ...key, onBehalfOf: 'carol' });
    const signed = signSubmission(prepareSubmission(good, 'acme'), signer, new Date('2026-11-20T10:00:00.000Z'));
    const expected = { keys: () => entry, development: false };
    expect(verifySubmission(signed, expected)).toMatchObject({ ok: true, requester: 'carol' });
    expect(verifySubmission({ ...signed, metadata: { affected_rows: 1 } }, expected)).toMatchObject({
      ok: false,
      code: 'wrong_change',
    });
    const elsewhere = { keys: () => ({ ...entry, tenants: ['other'] }), development: false };
    expect(verifySubmission(signed, elsewhere)).toMatchObject({ ok: false, code: 'not_permitted' });
    const reader = { keys: () => ({ ...entry, rights: ['read' as const] }), development: false };
    expect(verifySubmission(signed, reader)).toMatchObject({ ok: false, code: 'not_permitted' });
  });
});
