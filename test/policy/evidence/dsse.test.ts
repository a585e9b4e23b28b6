import { utf8ToBytes } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { canonicalJson } from '../../../policy/contracts/canonical-json';
import * as onNode from '../../../policy/evidence/base64';
import { openEnvelope, pae, PAYLOAD_TYPE, toEnvelope } from '../../../policy/evidence/dsse';
import {
  parseStatement,
  PREDICATES,
  statementOf,
  statementText,
  type StatementKind,
} from '../../../policy/evidence/statement';
import { SAMPLES } from './samples';

const KINDS = Object.keys(PREDICATES) as StatementKind[];
const bytes = (value: unknown): Uint8Array => utf8ToBytes(typeof value === 'string' ? value : canonicalJson(value));

const { fromBase64, toBase64 } = onNode;

/** Browsers and the sandbox of workflows have no Buffer. */
function withoutBuffer(): typeof onNode {
  const { Buffer } = globalThis;
  Reflect.deleteProperty(globalThis, 'Buffer');
  let other: typeof onNode | undefined;
  try {
    jest.isolateModules(() => (other = jest.requireActual<typeof onNode>('../../../policy/evidence/base64')));
  } finally {
    globalThis.Buffer = Buffer;
  }
  if (other === undefined) throw new Error('the module was not loaded');
  return other;
}

const inBrowsers = withoutBuffer();

describe.each([
  ['Node', onNode],
  ['browsers', inBrowsers],
])('base64 on %s', (_name, { fromBase64, toBase64 }) => {
  it('encodes and decodes any bytes like Buffer', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (data) => {
        expect(toBase64(data)).toBe(Buffer.from(data).toString('base64'));
        expect(fromBase64(toBase64(data))).toEqual(data);
      }),
    );
  });

  it.each(['A', 'AA', 'AAA', 'A===', '====', 'AB==', 'AAB=', 'AA=A', 'AA-_', 'AA A', 'AA==AA==', '\u0100AAA'])(
    'refuses %j, which is not the one spelling of its bytes',
    (text) => {
      expect(fromBase64(text)).toBeNull();
    },
  );

  it('rejects every text that is not its own encoding', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'AQgw+/=-_ \n'), maxLength: 8 }), (text) => {
        const read = fromBase64(text);
        if (read !== null) expect(toBase64(read)).toBe(text);
      }),
    );
  });
});

it('base64 accepts the same texts on Node and in browsers', () => {
  expect(inBrowsers.fromBase64).not.toBe(fromBase64);
  const letters = fc.string({ unit: fc.constantFrom(...'AQgw+/=-_ \n\u0100'), maxLength: 12 });
  fc.assert(fc.property(letters, (text) => expect(fromBase64(text)).toEqual(inBrowsers.fromBase64(text))));
  expect(fromBase64('AAAA')?.constructor).toBe(Uint8Array);
});

it('pae matches the example of the DSSE specification', () => {
  const encoded = pae('http://example.com/HelloWorld', utf8ToBytes('hello world'));
  expect(Buffer.from(encoded).toString()).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world');
  expect(Buffer.from(pae('é', utf8ToBytes('ü'))).toString()).toBe('DSSEv1 2 é 2 ü');
});

describe('a statement', () => {
  it.each(KINDS)('of kind %s reads back as it was written', (kind) => {
    const statement = statementOf(kind, SAMPLES[kind]);
    expect(parseStatement(kind, bytes(statement))).toEqual({ ok: true, statement });
    expect(statement.predicateType).toBe(`https://countersign.dev/${kind}/v1`);
    expect(statement.subject.every(({ digest }) => /^[0-9a-f]{64}$/.test(digest.sha256))).toBe(true);
  });

  it('cannot be parsed as another kind', () => {
    for (const kind of KINDS) {
      for (const other of KINDS.filter((k) => k !== kind)) {
        expect(parseStatement(other, bytes(statementOf(kind, SAMPLES[kind])))).toMatchObject({
          ok: false,
          code: 'wrong_kind',
        });
      }
    }
  });

  it.each(KINDS)('of kind %s is refused with a member missing, added or of another type', (kind) => {
    const statement = statementOf(kind, SAMPLES[kind]);
    const predicate = statement.predicate as Record<string, unknown>;
    for (const member of Object.keys(predicate)) {
      const { [member]: _, ...rest } = predicate;
      expect(parseStatement(kind, bytes({ ...statement, predicate: rest }))).toMatchObject({
        ok: false,
        code: 'invalid_statement',
      });
      const other = member === 'result' ? undefined : { ...predicate, [member]: [[]] };
      if (other !== undefined)
        expect(parseStatement(kind, bytes({ ...statement, predicate: other }))).toMatchObject({
          ok: false,
          code: 'invalid_statement',
        });
    }
    expect(parseStatement(kind, bytes({ ...statement, predicate: { ...predicate, extra: 1 } }))).toMatchObject({
      ok: false,
    });
    expect(parseStatement(kind, bytes({ ...statement, extra: 1 }))).toMatchObject({ ok: false });
  });

  it('is refused if subject or _type do not match the predicate', () => {
    const statement = statementOf('answer', SAMPLES.answer);
    for (const change of [
      { subject: [] },
      { subject: [{ name: 'change', digest: { sha256: 'f'.repeat(64) } }] },
      { _type: 'https://in-toto.io/Statement/v0.1' },
    ]) {
      expect(parseStatement('answer', bytes({ ...statement, ...change }))).toMatchObject({
        ok: false,
        code: 'invalid_statement',
      });
    }
  });

  it('is refused if its bytes are not canonical', () => {
    const text = statementText(statementOf('answer', SAMPLES.answer));
    const twice = text.replace('"decision":"confirm"', '"decision":"reject","decision":"confirm"');
    expect(JSON.parse(twice)).toEqual(JSON.parse(text));
    const spellings = [
      twice,
      ` ${text}`,
      `${text}\n`,
      `\ufeff${text}`,
      text.replace('"confirm"', '"\\u0063onfirm"'),
      text.replace(':null', ':null '),
      JSON.stringify(JSON.parse(text), null, 1),
    ];
    for (const other of spellings)
      expect(parseStatement('answer', utf8ToBytes(other))).toMatchObject({
        ok: false,
        code: expect.stringMatching(/not_canonical|not_json/),
      });
    const proto = text.replace('{"_type"', '{"__proto__":{},"_type"');
    expect(parseStatement('answer', utf8ToBytes(proto))).toMatchObject({ ok: false });
  });

  it('is refused without throwing for any bytes', () => {
    expect(parseStatement('answer', new Uint8Array([0xff, 0xfe]))).toMatchObject({ code: 'not_utf8' });
    expect(parseStatement('answer', utf8ToBytes('{'))).toMatchObject({ code: 'not_json' });
    expect(parseStatement('answer', utf8ToBytes('['.repeat(5000) + ']'.repeat(5000)))).toMatchObject({
      code: 'not_canonical',
    });
    expect(parseStatement('answer', utf8ToBytes('"\\ud800"'))).toMatchObject({ code: 'not_canonical' });
    for (const text of ['null', '1', '[]', '"x"', '{}'])
      expect(parseStatement('answer', utf8ToBytes(text))).toMatchObject({ ok: false });
    fc.assert(fc.property(fc.uint8Array(), (data) => parseStatement('answer', data).ok === false));
  });

  it.each(KINDS)('of kind %s is refused without throwing if a member has too many levels', (kind) => {
    const text = statementText(statementOf(kind, SAMPLES[kind]));
    const [deep, mark] = ['['.repeat(20_000) + ']'.repeat(20_000), '"placeholder"'];
    for (const member of Object.keys(SAMPLES[kind])) {
      const marked = {
        ...(JSON.parse(text) as object),
        predicate: { ...SAMPLES[kind], [member]: { a: 'placeholder' } },
      };
      const payload = utf8ToBytes(JSON.stringify(marked).replace(mark, deep));
      expect(parseStatement(kind, payload)).toMatchObject({ ok: false });
    }
  });

  it('is not built from a predicate that could not be parsed', () => {
    expect(() => statementOf('answer', { ...SAMPLES.answer, nonce: 'short' })).toThrow('nonce');
    expect(() => statementOf('answer', { ...SAMPLES.answer, extra: 1 } as never)).toThrow('answer');
  });
});

describe('an envelope', () => {
  const good = toEnvelope(statementOf('answer', SAMPLES.answer), 'k', () => new Uint8Array(64));

  it('opens to statement, signed bytes and key id without verifying the signature', () => {
    const opened = openEnvelope('answer', good);
    expect(opened).toMatchObject({ ok: true, keyid: 'k', statement: statementOf('answer', SAMPLES.answer) });
    if (opened.ok) expect(opened.signed).toEqual(pae(PAYLOAD_TYPE, utf8ToBytes(statementText(opened.statement))));
  });

  it('is refused with two signatures, another payload type, loose base64 or unknown members', () => {
    const [only] = good.signatures;
    const bad: unknown[] = [
      { ...good, signatures: [only, only] },
      { ...good, signatures: [] },
      { ...good, payloadType: 'text/plain' },
      { ...good, payload: `${good.payload}=` },
      { ...good, extra: 1 },
      { ...good, signatures: [{ ...only, sig: 'AB==' }] },
      null,
      'x',
      [],
      { ...good, payload: 1 },
    ];
    for (const envelope of bad)
      expect(openEnvelope('answer', envelope)).toMatchObject({ ok: false, code: 'malformed' });
  });
});

describe('an envelope that was opened before', () => {
  const envelope = toEnvelope(statementOf('answer', SAMPLES.answer), SAMPLES.answer.keyId, () => new Uint8Array(64));
  const open = (value: unknown = envelope) => {
    const opened = openEnvelope('answer', value);
    if (!opened.ok) throw new Error(opened.message);
    return opened;
  };

  it('has the same statement and signed bytes, whatever the first reader did to them', () => {
    const first = open();
    const before = first.signed.slice();
    first.signed.fill(0);
    const { predicate } = first.statement;
    expect(() => Object.assign(predicate, { decision: 'reject' })).toThrow(TypeError);
    expect(() => Object.assign(predicate.context, { tenant: 'other' })).toThrow(TypeError);
    expect(open().statement.predicate).toEqual(SAMPLES.answer);
    expect(open().signed).toEqual(before);
  });

  it('has the signature and key id of the envelope at hand', () => {
    open();
    const signatures = [{ keyid: 'other', sig: toBase64(new Uint8Array(64).fill(7)) }];
    expect(open({ ...envelope, signatures })).toMatchObject({ keyid: 'other', signature: new Uint8Array(64).fill(7) });
  });

  it('is refused with another payload type, with two signatures, or as another kind', () => {
    open();
    expect(openEnvelope('answer', { ...envelope, payloadType: 'text/plain' })).toMatchObject({ code: 'malformed' });
    const signatures = [...envelope.signatures, ...envelope.signatures];
    expect(openEnvelope('answer', { ...envelope, signatures })).toMatchObject({ code: 'malformed' });
    for (const kind of KINDS.filter((other) => other !== 'answer'))
      expect(openEnvelope(kind, envelope)).toMatchObject({ code: 'wrong_kind' });
  });
});
