import { createContext, runInContext, runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { reversed } from '../../support/reversed';
import {
  canonicalJson,
  escapePointer,
  frozenJson,
  isWellFormed,
  MAX_DEPTH,
  toWellFormed,
} from '../../../policy/contracts/canonical-json';
import { anyText } from '../../support/any-text';

describe('the vectors of RFC 8785', () => {
  test('appendix B: numbers', () => {
    const buffer = new DataView(new ArrayBuffer(8));
    const double = (hex: string): number => {
      buffer.setBigUint64(0, BigInt(`0x${hex}`));
      return buffer.getFloat64(0);
    };
    const vectors: readonly (readonly [string, string])[] = [
      ['0000000000000000', '0'],
      ['8000000000000000', '0'],
      ['0000000000000001', '5e-324'],
      ['8000000000000001', '-5e-324'],
      ['7fefffffffffffff', '1.7976931348623157e+308'],
      ['ffefffffffffffff', '-1.7976931348623157e+308'],
      ['4340000000000000', '9007199254740992'],
      ['c340000000000000', '-9007199254740992'],
      ['4430000000000000', '295147905179352830000'],
      ['44b52d02c7e14af5', '9.999999999999997e+22'],
      ['44b52d02c7e14af6', '1e+23'],
      ['44b52d02c7e14af7', '1.0000000000000001e+23'],
      ['444b1ae4d6e2ef4e', '999999999999999700000'],
      ['444b1ae4d6e2ef4f', '999999999999999900000'],
      ['444b1ae4d6e2ef50', '1e+21'],
      ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
      ['3eb0c6f7a0b5ed8d', '0.000001'],
      ['41b3de4355555553', '333333333.3333332'],
      ['41b3de4355555554', '333333333.33333325'],
      ['41b3de4355555555', '333333333.3333333'],
      ['41b3de4355555556', '333333333.3333334'],
      ['41b3de4355555557', '333333333.33333343'],
      ['becbf647612f3696', '-0.0000033333333333333333'],
      ['43143ff3c1cb0959', '1424953923781206.2'],
    ];
    for (const [hex, text] of vectors) expect(canonicalJson(double(hex))).toBe(text);
  });

  test('section 3.2.2: literals, strings, numbers', () => {
    const value = {
      numbers: [333333333.3333333, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  test('section 3.2.3: keys ordered by UTF-16 code unit [T35]', () => {
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    expect(Object.values(JSON.parse(canonicalJson(value)) as object)).toEqual([
      'One',
      'Carriage Return',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  test('orders upper-case letters before underscore before lower-case letters, in every locale [T35]', () => {
    expect(canonicalJson({ _: 1, a: 2, A: 3, b: 4, B: 5 })).toBe('{"A":3,"B":5,"_":1,"a":2,"b":4}');
    expect(['_', 'a', 'A', 'b', 'B'].sort((x, y) => x.localeCompare(y, 'en')).join('')).toBe('_aAbB');
  });
});

describe('a value that JSON cannot represent throws, and the error has its pointer', () => {
  class Thing {
    a = 1;
  }
  const cycle: Record<string, unknown> = {};
  cycle['self'] = { cycle };
  const named = Object.assign([1, 2], { note: 'x' });
  const refused: readonly (readonly [string, unknown])[] = [
    ['undefined', undefined],
    ['a function', () => 1],
    ['a bigint', 1n],
    ['a symbol', Symbol('x')],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    ['a Map', new Map([['a', 1]])],
    ['a Set', new Set([1])],
    ['a RegExp', /DROP/i],
    ['a Date', new Date(0)],
    ['a Uint8Array', new Uint8Array(2)],
    ['a boxed string', Object('x')],
    ['a class instance', new Thing()],
    ['an Error', new Error('x')],
    ['a Promise', Promise.resolve(1)],
    ['a lone high surrogate', 'a\ud800'],
    ['a lone low surrogate', '\udc00a'],
    ['swapped surrogates', '\udc00\ud800'],
    ['a cycle', cycle],
    ['a hole', [1, , 3]], // eslint-disable-line no-sparse-arrays
    ['an array with a named member', named],
    ['a match of a RegExp', /a/.exec('a')],
    ['a symbol key', { [Symbol('x')]: 1 }],
  ];
  test.each(refused)('%s, at the root and nested [T10, T36, G44]', (_what, value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
    expect(() => canonicalJson({ 'a/b': [null, { '~': value }] })).toThrow(/at "\/a~1b\/1\/~0/);
  });

  test('a key with a lone surrogate', () => expect(() => canonicalJson({ '\ud800': 1 })).toThrow(TypeError));

  test('nesting beyond the bound, without a stack overflow', () => {
    const nest = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    expect(canonicalJson(nest(MAX_DEPTH))).toHaveLength(2 * MAX_DEPTH);
    expect(() => canonicalJson(nest(MAX_DEPTH + 1))).toThrow(/deeper than/);
    expect(() => canonicalJson(nest(100_000))).toThrow(/deeper than/);
  });

  test('the same object twice is not a cycle', () => {
    const shared = { a: 1 };
    expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]');
  });
});

describe('values of another realm', () => {
  test('objects and arrays of a vm context have the same encoding', () => {
    const value: unknown = runInNewContext('({ b: [1, { c: "x" }], a: null })');
    expect(Object.getPrototypeOf(value)).not.toBe(Object.prototype);
    expect(canonicalJson(value)).toBe('{"a":null,"b":[1,{"c":"x"}]}');
  });
  test.each([
    'new Map()',
    'new Set()',
    '/x/',
    'new Date(0)',
    'new (class Thing {})()',
    'new Uint8Array(1)',
    'new Error("x")',
  ])('%s of a vm context is refused [T10]', (code) => {
    expect(() => canonicalJson(runInContext(code, createContext()))).toThrow(TypeError);
  });
  test('an object without a prototype is plain', () =>
    expect(canonicalJson(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}'));
});

describe('for any JSON value', () => {
  const json = fc.jsonValue({ maxDepth: 4 });
  const wellFormed = (value: unknown): boolean =>
    isWellFormed(JSON.stringify(value)) && !/\\ud[89a-f]/i.test(JSON.stringify(value));

  test('parses back to the same value, and encoding is idempotent', () => {
    fc.assert(
      fc.property(json, (value) => {
        fc.pre(wellFormed(value));
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  test('does not depend on the order in which members were added [G43]', () => {
    fc.assert(
      fc.property(json, (value) => {
        fc.pre(wellFormed(value));
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
      }),
      { numRuns: 300 },
    );
  });

  test('keeps a member named __proto__', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}');
  });
});

test('many names, long ones and ones that must be escaped are ordered and written as at first, each time [T35]', () => {
  const names = Array.from({ length: 3000 }, (_, i) => `${i}"\n\u20ac`.repeat(1 + (i % 40)));
  const value = Object.fromEntries([...names, '10', '9', 'length', 'constructor', ''].map((name) => [name, name]));
  const pairs = Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${JSON.stringify(name)}`); // prettier-ignore
  for (let i = 0; i < 2; i++) expect(canonicalJson(value)).toBe(`{${pairs.join(',')}}`);
  for (let i = 0; i < 2; i++) expect(() => canonicalJson({ '\ud800': 1 })).toThrow(TypeError);
});

describe('a value that is frozen to be encoded once', () => {
  const make = (): { b: { list: unknown[] }; a: number } => ({ b: { list: [1, { d: 'x' }] }, a: 2 });
  const nest = (depth: number): object => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as object;

  test('is the same value with the same encoding, alone and inside of others', () => {
    const value = make();
    expect(frozenJson(frozenJson(value))).toBe(value);
    expect(canonicalJson(value)).toBe(canonicalJson(make()));
    expect(canonicalJson({ z: [value, value] })).toBe(canonicalJson({ z: [make(), make()] }));
    expect(canonicalJson({ ...value, a: 3 })).toBe(canonicalJson({ ...make(), a: 3 }));
  });

  test('cannot be changed anywhere, so its encoding stays right', () => {
    const value = frozenJson(make());
    expect(() => (value.a = 3)).toThrow(TypeError);
    expect(() => value.b.list.push(3)).toThrow(TypeError);
    expect(() => Object.assign(value.b.list[1] as object, { d: 'y' })).toThrow(TypeError);
    expect(() => Object.defineProperty(value.b, 'more', { value: 1, enumerable: true })).toThrow(TypeError);
    expect(canonicalJson(value)).toBe(canonicalJson(make()));
  });

  test.each([
    ['undefined', { a: undefined }],
    ['NaN', [Number.NaN]],
    ['a lone surrogate', { a: '\ud800' }],
    ['a Map', { a: new Map() }],
    ['too many levels', nest(MAX_DEPTH + 1)],
  ])('is refused as before with %s [T10]', (_what, value) => {
    expect(frozenJson(value)).toBe(value);
    expect(Object.isFrozen(value)).toBe(false);
    expect(() => canonicalJson(value)).toThrow(TypeError);
    expect(() => canonicalJson({ value })).toThrow(TypeError);
  });

  test('does not make values acceptable that have too many levels together', () => {
    const inner = frozenJson(nest(20));
    expect(Object.isFrozen(inner)).toBe(true);
    const inside = (levels: number): unknown => {
      let value: unknown = inner;
      for (let i = 0; i < levels; i++) value = [value];
      return value;
    };
    expect(canonicalJson(inside(MAX_DEPTH - 20))).toHaveLength(2 * MAX_DEPTH);
    expect(() => canonicalJson(inside(MAX_DEPTH - 19))).toThrow(/deeper than/);
    expect(Object.isFrozen(frozenJson(nest(21)))).toBe(false);
  });
});

test('escapes pointers as RFC 6901 requires', () => expect(escapePointer('a/b~c')).toBe('a~1b~0c'));

test('toWellFormed replaces lone surrogates and keeps complete characters', () => {
  expect(toWellFormed('a\ud83d\ude00\ud83d')).toBe('a\ud83d\ude00\ufffd');
  expect(toWellFormed('\udc00x\ud800')).toBe('\ufffdx\ufffd');
  fc.assert(
    fc.property(anyText(), (text) => expect(isWellFormed(toWellFormed(text))).toBe(true)),
    { numRuns: 200 },
  );
});
