import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { exportOfRule } from './pinned-sources';
import { sourceDigests } from './source-digest';

type Files = Readonly<Record<string, string>>;

const MAIN = 'src/main.ts';
const folder = mkdtempSync(join(tmpdir(), 'countersign-digest-'));
let written = 0;

afterAll(() => rmSync(folder, { recursive: true }));

/** A folder with the files, of which `root` in `src/main.ts` is digested. */
function sources(files: Files | string): string {
  const own = join(folder, `${written++}`);
  for (const [name, text] of Object.entries(typeof files === 'string' ? { [MAIN]: files } : files)) {
    mkdirSync(dirname(join(own, name)), { recursive: true });
    writeFileSync(join(own, name), text);
  }
  return own;
}

const digestsOf = (all: readonly (Files | string)[]): readonly string[] =>
  sourceDigests(all.map((files) => ({ folder: sources(files), exports: [[MAIN, 'root']] })));

const same: readonly (readonly [title: string, before: Files | string, after: Files | string])[] = [
  [
    'comments, types and layout do not count',
    'export function root(a: number, b?: string): number {\n  // adds\n  return a + (b as unknown as number);\n}',
    "export function root(x: any, y: unknown) { return (x + y) } type T = 'x'",
  ],
  [
    'names of parameters and locals do not count',
    'export const root = (list) => { const out = []; for (const item of list) out.push(item); return out; }',
    'export const root = (all) => { const result = []; for (const one of all) result.push(one); return result; }',
  ],
  [
    'the name of a top-level function does not count',
    'function helper(x) { return x + 1 } export const root = () => helper(2)',
    'function addOne(x) { return x + 1 } export const root = () => addOne(2)',
  ],
  [
    'a local that shadows a top-level name is a local',
    'const a = 1; export const root = (b) => { const c = a; return b + c; }',
    'const e = 1; export const root = (a) => { const d = e; return a + d; }',
  ],
  [
    'an inner name may shadow an outer one or have a name of its own',
    'export const root = (x) => x.map((x) => x + 1)',
    'export const root = (x) => x.map((y) => y + 1)',
  ],
  [
    'a parameter may have the name of a top-level value that is not used',
    'const size = 1; export const root = (size) => size',
    'const size = 1; export const root = (given) => given',
  ],
  [
    'a shorthand property is a key and a reference',
    'export const root = (width) => ({ width })',
    'export const root = (w) => ({ width: w })',
  ],
  [
    'a destructured local may be renamed if its key stays',
    'export const root = ({ width, height = 2 }) => width * height',
    'export const root = ({ width: w, height: h = 2 }) => w * h',
  ],
  [
    'default parameters see the parameters before them under any name',
    'export const root = (a, b = a) => a + b',
    'export const root = (first, second = first) => first + second',
  ],
  [
    'a default parameter does not see what the body declares',
    'const x = 1; export function root(a = x) { const y = 2; return a + y }',
    'const z = 1; export function root(a = z) { const z = 2; return a + z }',
  ],
  [
    'locals of class members may be renamed',
    'export class root { #n = 1; add(by) { const sum = this.#n + by; return sum } static of(n) { return new root() } }',
    'export class root { #n = 1; add(x) { const y = this.#n + x; return y } static of(m) { return new root() } }',
  ],
  [
    'a catch variable and a named function expression may be renamed',
    'export const root = function f(n) { out: for (;;) { try { f(n) } catch (e) { if (e) break out } } }',
    'export const root = function g(m) { out: for (;;) { try { g(m) } catch (x) { if (x) break out } } }',
  ],
  [
    'declarations in a switch belong to the whole switch',
    'export const root = (k) => { switch (k) { case 1: { const a = 1; return a } default: return k } }',
    'export const root = (q) => { switch (q) { case 1: { const b = 1; return b } default: return q } }',
  ],
  [
    'a declaration may move to another file',
    { [MAIN]: 'const one = 1; function helper() { return one } export const root = () => helper()' },
    {
      [MAIN]: "import { assist } from '../lib/assist'; export const root = () => assist()",
      'lib/assist.ts': "import { one as first } from './numbers'; export function assist() { return first }",
      'lib/numbers.ts': 'export const one = 1',
    },
  ],
  [
    'a re-export through an index does not count',
    {
      [MAIN]: "import { f } from './lib/f'; export const root = () => f()",
      'src/lib/f.ts': 'export const f = () => 1',
    },
    {
      [MAIN]: "import { g } from './lib'; export const root = () => g()",
      'src/lib/index.ts': "export * from './none'; export { f as g } from './f'",
      'src/lib/none.ts': 'export const none = 0',
      'src/lib/f.ts': 'export const f = () => 1',
    },
  ],
  [
    'an import of a type does not count',
    { [MAIN]: "import type { T } from './t'; export const root = (a: T) => a", 'src/t.ts': 'export type T = 1' },
    'export const root = (a) => a',
  ],
  [
    'functions that call each other may be renamed',
    'function even(n) { return n === 0 || odd(n - 1) } function odd(n) { return n !== 0 && even(n - 1) } export const root = even',
    'function a(n) { return n === 0 || b(n - 1) } function b(n) { return n !== 0 && a(n - 1) } export const root = a',
  ],
  [
    'what is not reached does not count',
    'export const root = 1; export const other = 2; function unused() { return 3 }',
    'export const root = 1',
  ],
  [
    'the local name of an import from a package does not count',
    "import { sha256 } from 'hash'; export const root = (a) => sha256(a)",
    "import { sha256 as digest } from 'hash'; export const root = (a) => digest(a)",
  ],
  [
    'a neighbour in the same declaration does not count',
    'const a = 1, b = 2; export const root = () => b',
    'const b = 2; export const root = () => b',
  ],
  ['spelling of a literal does not count', "export const root = ['\\x41', 1_000]", 'export const root = ["A", 1000]'],
];

const different: readonly (readonly [title: string, before: Files | string, after: Files | string])[] = [
  ['an operator', 'export const root = (a, b) => a < b', 'export const root = (a, b) => a <= b'],
  ['a string', "export const root = 'a'", "export const root = 'b'"],
  ['half of a surrogate pair', "export const root = '\\ud800'", "export const root = '\\ud801'"],
  ['a number', 'export const root = 1', 'export const root = 2'],
  ['a regular expression', 'export const root = /a+/', 'export const root = /a*/'],
  ['flags of a regular expression', 'export const root = /a/g', 'export const root = /a/i'],
  ['a template', 'export const root = (a) => `x${a}`', 'export const root = (a) => `y${a}`'],
  ['a property name', 'export const root = (a) => a.first', 'export const root = (a) => a.last'],
  ['a key', 'export const root = (a) => ({ a })', 'export const root = (a) => ({ b: a })'],
  ['a destructured key', 'export const root = ({ a }) => a', 'export const root = ({ b: a }) => a'],
  ['a default value', 'export const root = ({ a = 1 }) => a', 'export const root = ({ a = 2 }) => a'],
  ['a spread', 'export const root = (a) => f(a)', 'export const root = (a) => f(...a)'],
  ['optional chaining', 'export const root = (a) => a.b', 'export const root = (a) => a?.b'],
  ['swapped arguments', 'export const root = (a, b) => f(a, b)', 'export const root = (a, b) => f(b, a)'],
  [
    'which of two shadowed names is meant',
    'export const root = (x) => (y) => x',
    'export const root = (x) => (y) => y',
  ],
  [
    'the order of calls',
    'const f = () => 1; const g = () => 2; export const root = () => [f(), g()]',
    'const f = () => 1; const g = () => 2; export const root = () => [g(), f()]',
  ],
  ['the order of statements', 'export const root = () => { a(); b() }', 'export const root = () => { b(); a() }'],
  ['a global', 'export const root = (a) => parseInt(a)', 'export const root = (a) => parseFloat(a)'],
  [
    'a global that a local comes to hide',
    'export const root = () => parseInt(1)',
    'const parseInt = (x) => x; export const root = () => parseInt(1)',
  ],
  [
    'the function imported from a package',
    "import { sha256 } from 'hash'; export const root = (a) => sha256(a)",
    "import { sha512 } from 'hash'; export const root = (a) => sha512(a)",
  ],
  [
    'the package',
    "import { sha256 } from 'hash'; export const root = sha256",
    "import { sha256 } from 'other'; export const root = sha256",
  ],
  [
    'a helper in another file',
    { [MAIN]: "import { f } from './lib'; export const root = () => f()", 'src/lib.ts': 'export const f = () => 1' },
    { [MAIN]: "import { f } from './lib'; export const root = () => f()", 'src/lib.ts': 'export const f = () => 2' },
  ],
  [
    'a re-export that means another function',
    {
      [MAIN]: "import { f } from './lib'; export const root = f",
      'src/lib/index.ts': "export { a as f } from './ab'",
      'src/lib/ab.ts': 'export const a = 1; export const b = 2',
    },
    {
      [MAIN]: "import { f } from './lib'; export const root = f",
      'src/lib/index.ts': "export { b as f } from './ab'",
      'src/lib/ab.ts': 'export const a = 1; export const b = 2',
    },
  ],
  [
    'which name of a destructured constant is meant',
    'const { a, b } = make(); export const root = a',
    'const { a, b } = make(); export const root = b',
  ],
  ['a class member', 'export class root { static a() {} }', 'export class root { a() {} }'],
  [
    'a statement that runs when the module is loaded',
    'const all = new Map(); export const root = () => all',
    'const all = new Map(); all.set(1, 2); export const root = () => all',
  ],
  [
    'a statement in a file from which a value is taken',
    { [MAIN]: "import { f } from './lib'; export const root = f", 'src/lib.ts': 'export const f = {}' },
    { [MAIN]: "import { f } from './lib'; export const root = f", 'src/lib.ts': 'export const f = {}; f.x = 1' },
  ],
  [
    'a call of a function that calls back',
    'function a() { b() } function b() { a() } export const root = a',
    'function a() { b() } function b() { b() } export const root = a',
  ],
];

/** The digests of both sides of every case, bundled at once. */
const digests = digestsOf([...same, ...different].flatMap(([, before, after]) => [before, after]));
const pairsOf = (cases: typeof same, from: number) =>
  cases.map(([title], i) => [title, digests[2 * (from + i)], digests[2 * (from + i) + 1]] as const);

describe('a digest stays the same', () => {
  it.each(pairsOf(same, 0))('%s [T12]', (_, before, after) => {
    expect(after).toBe(before);
  });

  it('under another name of the exported function and in another file [T12]', () => {
    const [before, after] = [
      ['src/main.ts', 'root', 'export function root(n) { return n ? root(n - 1) : 0 }'],
      ['other/place.ts', 'countDown', 'export function countDown(m) { return m ? countDown(m - 1) : 0 }'],
    ].map(([path = '', name = '', text = '']) => ({
      folder: sources({ [path]: text }),
      exports: [[path, name]] as const,
    }));
    const [first, moved] = sourceDigests([before, after].flatMap((one) => one ?? []));
    expect(moved).toBe(first);
  });
});

describe('a digest changes with', () => {
  it.each(pairsOf(different, same.length))('%s [T12]', (_, before, after) => {
    expect(after).not.toBe(before);
  });
});

describe('a rule', () => {
  const statements = (...texts: readonly string[]) => texts.map((text) => ({ path: MAIN, text }));

  it('is the declaration with its name, as a member or as the first argument of a call', () => {
    const other = "export const other = 'sql_drop'";
    const calls = "export const both = make('sql_drop', 1)";
    const member = "export const drop = define({ name: 'sql_drop' })";
    expect(exportOfRule('sql_drop', statements(other, calls, member))).toEqual([MAIN, 'drop']);
    expect(exportOfRule('sql_drop', statements(other, calls))).toEqual([MAIN, 'both']);
    expect(exportOfRule('sql_drop', statements("const drop = define({ name: 'sql_drop' })"))).toEqual([MAIN, '*']);
  });

  it('that no declaration defines, or two, is an error', () => {
    const call = "const a = make('sql_drop')";
    expect(() => exportOfRule('sql_drop', statements("// name: 'sql'", 'export const a = 1'))).toThrow('got 0');
    expect(() => exportOfRule('sql_drop', statements(call, call))).toThrow('got 2');
  });
});

it('an import that cannot be read is an error', () => {
  expect(() => digestsOf(["import { f } from './gone'; export const root = f"])).toThrow('./gone');
  expect(() => digestsOf([{ [MAIN]: "import { f } from './lib'; export const root = f", 'src/lib.ts': '' }])).toThrow(
    '"f"',
  );
});
