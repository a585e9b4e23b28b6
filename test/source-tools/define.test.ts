import type { SourceTool } from '../../policy/contracts/source-tool';
import { defineSourceTool, sourceToolRegistry } from '../../source-tools/define';
import { sqlCas, sqlDryRun } from '../../source-tools/sql';
import { plainTool } from '../support/source-tools';
import { diffOf } from '../support/staged-change';

const tool = (more: Partial<SourceTool>): SourceTool => ({ ...sqlDryRun, ...more });

describe('defineSourceTool', () => {
  it('rejects an invalid name, an enforced tool without staging, and a cooperative tool with staging', () => {
    expect(() => defineSourceTool(tool({ sourceTool: 'a b' }))).toThrow('expected 1 to 63');
    expect(() => defineSourceTool(tool({ staging: null }))).toThrow('give it staging, or make it cooperative');
    expect(() => defineSourceTool(tool({ mode: 'cooperative' }))).toThrow('remove the staging, or make it enforced');
    expect(defineSourceTool(tool({ mode: 'cooperative', staging: null })).staging).toBeNull();
  });

  it('freezes the tool, its renderer and its effects', async () => {
    expect(Object.isFrozen(sqlDryRun)).toBe(true);
    expect(Object.isFrozen(sqlDryRun.render)).toBe(true);
    expect(Object.isFrozen(await sqlDryRun.staging?.())).toBe(true);
  });

  it('rejects a duplicate name and a number of tools that differs from the expected one [T67]', () => {
    expect(() => sourceToolRegistry([sqlDryRun, sqlDryRun])).toThrow('registered twice');
    expect(() => sourceToolRegistry([sqlDryRun], 2)).toThrow('expected 2 entries');
    expect(sourceToolRegistry([sqlDryRun, sqlCas]).keys()).toEqual(['SQLDryRun', 'SQLCAS']);
  });
});

const PARSER = { name: 'p', version: '1' } as const;
const plain = { sourceTool: 'Plain', mode: 'cooperative', parser: PARSER, staging: null } as const;
const readable = { ...plain, facts: () => ({ ok: true, kind: 'k', parser: PARSER }) } as const;

it.each<[string, object | undefined, RegExp]>([
  ['no definition', undefined, /^Source tool: definition: expected object, got nothing$/],
  ['no facts', plain, /^Source tool "Plain": facts: expected a function, got nothing$/],
  [
    'a mode that does not exist',
    { ...readable, mode: 'Enforced' },
    /mode: .*"enforced"\|"cooperative".*got "Enforced"/,
  ],
  [
    'a parser without a version',
    { ...readable, parser: { name: 'p' } },
    /parser\.version: expected string, got nothing/,
  ],
  [
    'an async measure',
    { ...readable, measure: async () => null },
    /measure: expected .* not async, got an async function/,
  ],
  ['a title that is text', { ...readable, title: 'A change' }, /title: expected a function .*, got "A change"/],
  ['a renderer that is a function', { ...readable, render: () => null }, /render: expected object, got a function/],
  [
    'metadata without a check',
    { ...readable, effectMetadata: { members: { a: true }, refused: [] } },
    /effectMetadata\.members\.a: /,
  ],
  [
    'required metadata without a check',
    { ...readable, effectMetadata: { members: {}, refused: [], required: ['a'] } },
    /effectMetadata\.required: expected names of "members"/,
  ],
  ['a list of facts members', { ...readable, factsMembers: ['a'] }, /factsMembers: expected record, got an array of 1/],
  [
    'settings that are no schema',
    { ...readable, stagingSettings: { max: 1 } },
    /stagingSettings: expected a zod schema/,
  ],
  ['no staging', { ...readable, mode: 'enforced', staging: undefined }, /staging: expected a function, got nothing/],
  ['a misspelled member', { ...readable, fact: () => null }, /fact: unknown member/],
])('refuses a definition with %s, and names the member', (_, definition, message) => {
  expect(() => defineSourceTool(definition as never)).toThrow(message);
});

describe('a reader that returns something else than its type', () => {
  const diff = diffOf('{}');
  const define = (more: object) => defineSourceTool({ ...readable, ...more } as never);

  it.each([
    ['nothing', () => undefined],
    ['true', () => true],
    ['facts without a kind', () => ({ ok: true }), 'an object whose "kind" is missing'],
    ['facts with a kind that is not text', () => ({ ok: true, kind: 7 }), 'an object whose "kind" is the number 7'],
    ['facts without ok', () => ({ kind: 'k' }), 'an object whose "ok" is missing'],
    ['facts whose ok is a text', () => ({ ok: 'true', kind: 'k' }), 'an object whose "ok" is "true"'],
    ['a refusal without a code', () => ({ ok: false }), 'an object whose "code" is missing'],
    ['a refusal without a message', () => ({ ok: false, code: 'c' }), 'an object whose "message" is missing'],
    ['a Map', () => new Map([['ok', true]]), 'a Map'],
    [
      'a class instance',
      () =>
        new (class Payout {
          readonly ok = true;
          readonly kind = 'k';
        })(),
      'a Payout',
    ],
  ])('throws for facts that are %s', async (_, facts, given = '.*') => {
    await expect(define({ facts }).facts(diff)).rejects.toThrow(
      new RegExp(`"Plain": facts returned ${given}; expected \\{ok: true, kind`),
    );
  });

  const nested = (levels: number): unknown => {
    let facts: unknown = 1;
    for (let i = 0; i < levels; i++) facts = [facts];
    return facts;
  };

  const cycle: Record<string, unknown> = {};
  cycle['parent'] = [cycle];

  it.each<[string, unknown, string]>([
    ['a Map, which a condition would read as empty', new Map([['users', 1]]), 'tables is a Map'],
    ['a Set', new Set(['users']), 'tables is a Set'],
    ['a Date', [{ at: new Date(0) }], 'tables[0].at is a Date'],
    [
      'an instance of a class',
      new (class Table {
        readonly member = 1;
      })(),
      'tables is a Table',
    ],
    ['NaN, with which no comparison is true', { rows: Number.NaN }, 'tables.rows is NaN'],
    ['an infinite number', [Infinity], 'tables[0] is Infinity'],
    ['a BigInt', { rows: 5n }, 'tables.rows is a bigint'],
    ['a function', [() => 1], 'tables[0] is a function'],
    ['a symbol', Symbol('s'), 'tables is a symbol'],
    ['an undefined member of an array', ['users', undefined], 'tables[1] is undefined'],
    // oxlint-disable-next-line no-sparse-arrays
    ['a hole in an array', ['users', , 'items'], 'tables[1] is undefined'],
    ['an array that starts with holes', Object.assign([], { length: 4_000_000_000 }), 'tables[0] is undefined'],
    ['a named member of an array', Object.assign(['users'], { all: true }), 'tables is an array with a named member'],
    [
      'an array with methods of its own',
      new (class Tables extends Array {
        toJSON() {
          return [];
        }
      })(),
      'tables is a Tables',
    ],
    [
      'a getter, which can return another value each time',
      {
        get rows() {
          return 1;
        },
      },
      'tables.rows is a getter',
    ],
    [
      'a getter that throws',
      Object.defineProperty(['users'], 0, {
        get: () => {
          throw new Error('read');
        },
      }),
      'tables[0] is a getter',
    ],
    ['numbers in a typed array, which are not checked', new Float64Array([Number.NaN]), 'tables is a Float64Array'],
    ['more than 1000 levels', nested(1001), 'tables'],
    ['a cycle', cycle, 'tables.parent[0] is one of the objects that contain it'],
    ['a secret as name of the member', { [`AKIA${'IOSFODNN7EXAMPL2'}`]: 1n }, 'tables.[SECRET:'],
  ])('throws for facts with %s, and names the member and what is allowed', async (_, tables, message) => {
    const facts = () => ({ ...readable.facts(), statements: [{ tables }] });
    const { message: said } = await define({ facts })
      .facts(diff)
      .then(
        () => new Error('nothing was thrown'),
        (error: unknown) => error as Error,
      );
    expect(said).toContain(`"Plain": facts.statements[0].${message}`);
    expect(said).toContain(
      '; expected bytes, strings, finite numbers, true, false, null, and arrays and plain objects',
    );
  });

  it('accepts facts with undefined members of objects, shared objects, bytes and 900 levels', async () => {
    const span = { line: 1 };
    const facts = {
      ...readable.facts(),
      none: undefined,
      spans: [span, span, span],
      raw: new Uint8Array(2),
      deep: nested(900),
    };
    expect(await define({ facts: () => facts }).facts(diff)).toBe(facts);
  });

  it.each<['texts' | 'measure' | 'touched' | 'claims', (() => unknown)[]]>([
    ['texts', [() => Promise.resolve([]), () => undefined, () => ['text'], () => [{ side: 'added', text: 'a' }]]],
    [
      'measure',
      [
        () => Promise.reject(new Error('no')),
        () => undefined,
        () => ({}),
        () => ({ operations: 1, deletions: -1, rows: NaN }),
      ],
    ],
    ['touched', [() => Promise.resolve(null), () => undefined, () => [null], () => [{ name: 'a' }]]],
    ['claims', [() => Promise.resolve(null), () => undefined, () => ({})]],
  ])('throws for %s', async (member, readers) => {
    for (const reader of readers) {
      const made = define({ [member]: reader });
      const facts = await made.facts(diff);
      expect(() => made[member](facts, diff)).toThrow(new RegExp(`"Plain": ${member} returned .*; expected `));
    }
  });

  it('throws for a title', async () => {
    const made = define({ title: () => 5 });
    const facts = await made.facts(diff);
    expect(() => made.title(facts, diff, null)).toThrow('title returned the number 5; expected a string');
  });
});

describe('the effects of an enforced tool', () => {
  const effects = (staging: object) => {
    const made = defineSourceTool({ ...readable, mode: 'enforced', staging: async () => staging } as never);
    return made.staging?.();
  };
  const wrong = (): Promise<object> => Promise.resolve({ kind: 'done' });

  it('are refused as a wrong configuration if a function is missing', async () => {
    await expect(effects({ stage: wrong })).rejects.toMatchObject({
      message: 'Source tool "Plain": staging gave no function commit, seal; let it return {stage, commit, seal}',
      type: 'CONFIGURATION_ERROR',
    });
  });

  it('give an unknown outcome if commit or seal returns an invalid result, and a wrong configuration if stage does', async () => {
    const made = await effects({ stage: wrong, commit: wrong, seal: wrong });
    await expect(made?.stage({} as never)).rejects.toMatchObject({ type: 'CONFIGURATION_ERROR' });
    await expect(made?.commit({} as never)).resolves.toMatchObject({
      kind: 'unknown',
      explanation: expect.stringMatching(/"Plain": commit returned an invalid result: kind: /) as string,
    });
    await expect(made?.seal({} as never)).resolves.toMatchObject({ found: 'unknown' });
  });
});

describe('a tool that defines only facts', () => {
  const diff = { ...diffOf('{"a":"\\u0062"}'), metadata: { affected_rows: 4 } };

  it('returns all bytes as texts, as staged and without escapes', async () => {
    const texts = plainTool.texts(await plainTool.facts(diff), diff);
    expect(texts.map(({ side, text }) => [side, text])).toEqual([
      ['added', '{"a":"\\u0062"}'],
      ['added', '{"a":"b"}'],
    ]);
    expect(texts[1]?.spanOf(6, 7)).toEqual({ startLine: 1, startColumn: 7, endLine: 1, endColumn: 8 });
  });

  it('measures no operations and no places, and takes the number of rows from the claim', async () => {
    const facts = await plainTool.facts(diff);
    expect(plainTool.measure(facts, diff)).toEqual({ operations: null, deletions: null, rows: 4 });
    expect([plainTool.touched(facts, diff), plainTool.claims(facts, diff)]).toEqual([null, null]);
  });

  it('is rendered as text', () => {
    expect(plainTool.render).toMatchObject({ name: 'text', language: 'text' });
  });
});

it('does not call the readers of a tool if its facts were refused', () => {
  const diff = diffOf('DELETE FROM');
  const refused = { ok: false, code: 'syntax_error', message: '', span: null } as const;
  expect(sqlDryRun.measure(refused, diff)).toEqual({ operations: null, deletions: null, rows: null });
  expect([sqlDryRun.touched(refused, diff), sqlDryRun.claims(refused, diff)]).toEqual([null, null]);
  expect(sqlDryRun.texts(refused, diff).map(({ text }) => text)).toEqual(['DELETE FROM']);
});
