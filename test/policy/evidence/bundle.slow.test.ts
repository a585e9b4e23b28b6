import { evidenceChecksum, evidenceText, parseEvidence, type EvidenceBundle } from '../../../policy/evidence/bundle';
import { publishedVectors } from '../../support/vectors';

const { texts } = publishedVectors();
const bundle = (): EvidenceBundle => JSON.parse(texts.committed) as EvidenceBundle;

describe('the format of evidence', () => {
  it('parses exactly the bundle that it serialized', () => {
    const read = parseEvidence(texts.committed);
    expect(read.ok && evidenceText(read.bundle)).toBe(texts.committed);
    expect(read.ok && evidenceChecksum(read.bundle)).toBe(bundle().sha256);
  });

  it.each([
    ['without its newline', () => texts.committed.trimEnd()],
    ['with a second one', () => `${texts.committed}\n`],
    ['with a space', () => texts.committed.replace('":', '": ')],
    ['with a key twice', () => texts.committed.replace('{', '{"bytes":null,')],
    [
      'with members in another order',
      () => `${JSON.stringify(Object.fromEntries(Object.entries(bundle()).reverse()))}\n`,
    ],
    ['with an unknown member', () => `${JSON.stringify({ ...bundle(), note: 'x' })}\n`],
    ['with a byte order mark', () => `\ufeff${texts.committed}`],
    [
      'without a checksum',
      () => texts.committed.replace(/"sha256":"[0-9a-f]{64}","staging"/, '"sha256":null,"staging"'),
    ],
    [
      'with settings of too many levels',
      () => texts.committed.replace(/"config":\{/, `"config":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)},`),
    ],
    ['cut off', () => texts.committed.slice(0, -100)],
    ['empty', () => ''],
  ])('is refused %s', (_name, make) => {
    expect(parseEvidence(make())).toMatchObject({ ok: false });
    expect(parseEvidence(new TextEncoder().encode(make()))).toMatchObject({ ok: false });
  });

  it('is refused if it is not UTF-8 or too large', () => {
    expect(parseEvidence(Uint8Array.of(0x7b, 0xff, 0x7d, 0x0a))).toEqual({
      ok: false,
      isEvidence: false,
      problem: 'the file is not UTF-8',
    });
    expect(parseEvidence({ length: 65 * 1024 * 1024 } as Uint8Array)).toMatchObject({ ok: false });
  });

  it('is not serialized if it could not be parsed', () => {
    expect(() => evidenceText({ ...bundle(), changeId: 'x' })).toThrow(/Invalid evidence bundle: .*changeId/);
  });
});
