import { canonicalJson, isWellFormed } from '../../../policy/contracts/canonical-json';
import { useDatabase } from '../../support/postgres';
import { seededRandom } from '../../../chaos/seeded-random';

const database = useDatabase();

/** So that a statement ends far before its time-out, also on a busy machine. */
const BODIES_PER_STATEMENT = 200;
const GROUPS_PER_STATEMENT = 100;

/** What PostgreSQL finds wrong in each body. */
async function problemsOf(bodies: readonly string[]): Promise<(string | null)[]> {
  const db = database.open('admin');
  const problems: (string | null)[] = [];
  for (let i = 0; i < bodies.length; i += BODIES_PER_STATEMENT) {
    const { rows } = await db.query<{ problem: string | null }>(
      'select body_problem(body) as problem from unnest($1::text[]) with ordinality as b(body, place) order by place',
      [bodies.slice(i, i + BODIES_PER_STATEMENT)],
    );
    problems.push(...rows.map(({ problem }) => problem));
  }
  return problems;
}

/** Whether our own code reads the text and writes exactly it again. */
function isCanonicalObject(text: string): boolean {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) && canonicalJson(value) === text;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return false;
    throw error;
  }
}

/** Numbers from 0 to 1. */
function unit(seed: number): () => number {
  const below = seededRandom(seed);
  return () => below(1_000_000_007) / 1_000_000_007;
}

const PIECES = [
  'a',
  '"',
  '\\',
  '\0',
  '\u0001',
  '\u0002',
  '\n',
  '\u001f',
  '/',
  '\u007f',
  'é',
  '\ue000',
  '\uffff',
  '😀',
  '𐀀',
  '__proto__',
];
const NUMBERS = [
  0,
  1,
  -1,
  0.1,
  -0.5,
  1e15,
  123456789012345,
  2 ** 53,
  1e20,
  1e21,
  1.5e300,
  5e-324,
  1e-6,
  1e-7,
  0.000001234,
  Number('9007199254740993'),
  4.35,
  1 / 3,
];

function value(random: () => number, depth: number): unknown {
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const text = (): string => Array.from({ length: Math.floor(random() * 4) }, () => pick(PIECES)).join('');
  const kind = Math.floor(random() * (depth > 3 ? 4 : 6));
  const size = Math.floor(random() * 4);
  if (kind === 0) return pick([null, true, false]);
  if (kind === 1) return pick([pick(NUMBERS), random(), random() * 10 ** Math.floor(random() * 40 - 20)]);
  if (kind < 4) return text();
  if (kind === 4) return Array.from({ length: size }, () => value(random, depth + 1));
  return Object.fromEntries(Array.from({ length: size }, () => [text(), value(random, depth + 1)]));
}

describe('the body of a ledger row', () => {
  it('is accepted in canonical form: 3,000 random objects', async () => {
    const random = unit(11);
    const bodies = Array.from({ length: 3_000 }, () => canonicalJson({ b: value(random, 0), a: value(random, 0) }));
    const problems = await problemsOf(bodies);
    expect(bodies.flatMap((body, i) => (problems[i] === null ? [] : [[body, problems[i]]]))).toEqual([]);
  });

  it('is refused in any other form: 6,000 changes of one character', async () => {
    const random = unit(12);
    const bodies = Array.from({ length: 6_000 }, () => {
      const text = canonicalJson({ b: value(random, 1), a: value(random, 1) });
      const at = Math.floor(random() * text.length);
      const inserted =
        ['', ' ', '0', '1', '9', 'e', '.', '-', ',', '"', '\\', 'a', '{', '}'][Math.floor(random() * 14)] ?? '';
      return text.slice(0, at) + inserted + text.slice(at + Math.floor(random() * 2));
    }).filter(isWellFormed);
    const problems = await problemsOf(bodies);
    expect(bodies.filter((body, i) => (problems[i] === null) !== isCanonicalObject(body))).toEqual([]);
  });

  it('is accepted or refused together with other bodies as it is alone', async () => {
    const random = unit(13);
    const groups = Array.from({ length: 1_500 }, () =>
      Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
        const text = canonicalJson({ b: value(random, 1), a: value(random, 1) });
        if (random() < 0.7) return text;
        const at = Math.floor(random() * text.length);
        return (
          text.slice(0, at) +
          (['', ' ', '0', ',', '"', '{', '}', '['][Math.floor(random() * 8)] ?? '') +
          text.slice(at + 1)
        );
      }).filter(isWellFormed),
    ).concat([
      ['{"a":1', '"b":2}'],
      ['{"a":[1', '2]}'],
      ['{"a":"', '"}'],
    ]);
    const db = database.open('admin');
    const problems: (string | null)[] = [];
    for (let i = 0; i < groups.length; i += GROUPS_PER_STATEMENT) {
      const { rows } = await db.query<{ problem: string | null }>(
        `select bodies_problem(array(select json_array_elements_text(g))) as problem
           from json_array_elements($1::json) with ordinality as groups(g, place) order by place`,
        [JSON.stringify(groups.slice(i, i + GROUPS_PER_STATEMENT))],
      );
      problems.push(...rows.map(({ problem }) => problem));
    }
    expect(groups.filter((bodies, i) => (problems[i] === null) !== bodies.every(isCanonicalObject))).toEqual([]);
  });

  const OTHER_FORMS = [
    ['not json', 'not a JSON object'],
    ['null', 'not a JSON object'],
    ['[]', 'not a JSON object'],
    ['"x"', 'not a JSON object'],
    ['{"a":1e999}', 'the number 1e999'],
    ['{"a":1.0}', 'the number 1.0'],
    ['{"a":-0}', 'the number -0'],
    ['{"a":0.10000000000000001}', 'the number'],
    ['{"a":1e-400}', 'the number 1e-400'],
    ['{ "a":1}', 'white space'],
    ['{"a":"\\ud800"}', 'needless escape'],
    ['{"a":"\\u0041"}', 'needless escape'],
    ['{"a":"\\/"}', 'needless escape'],
    ['{"a":1,"a":2}', 'a name twice'],
    ['{"b":1,"a":2}', 'not in the order'],
    ['{"a":[{"d":1,"c":2}]}', 'not in the order'],
    ['{"\uffff":1,"😀":2}', 'not in the order'],
    ['{"a\\u0001":1,"a\\u0000":2}', 'not in the order'],
    [`{"a":${'['.repeat(180)}${']'.repeat(180)}}`, 'more than 180 levels'],
    [`{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 'more than 180 levels'],
    [`{"a":${'[{"a":'.repeat(90)}1${'}]'.repeat(90)}}`, 'more than 180 levels'],
  ] as const;
  it.each(OTHER_FORMS.map(([body, problem]) => [problem, body] as const))(
    'is refused: %s (%#)',
    async (problem, body) => {
      expect((await problemsOf([body]))[0]).toContain(problem);
    },
  );
});

describe('the time of a ledger row', () => {
  const problem = async (at: string): Promise<string | null> => {
    const { rows } = await database
      .open('admin')
      .query<{ problem: string | null }>('select time_problem($1, false) as problem', [at]);
    return rows[0]?.problem ?? null;
  };
  const minutes = (n: number): string => new Date(Date.now() + n * 60_000).toISOString();

  it('is accepted within ten minutes of the clock of the database', async () => {
    for (const at of [minutes(0), minutes(-9), minutes(9)]) expect(await problem(at)).toBeNull();
    for (const at of [minutes(-11), minutes(11)]) expect(await problem(at)).toContain('minutes from the clock');
  });

  it.each([
    ['9999-12-31T23:59:59.999Z', 'minutes from the clock'],
    ['1970-01-01T00:00:00.000Z', 'minutes from the clock'],
    ['-'.repeat(20), 'form of ISO 8601'],
    ['2026-01-02T03:04:05Z', 'form of ISO 8601'],
    ['2026-01-02T03:04:05.000+01:00', 'form of ISO 8601'],
    ['2026-02-30T03:04:05.000Z', 'not a moment that exists'],
    ['2026-13-01T03:04:05.000Z', 'not a moment that exists'],
    ['2026-01-01T24:00:00.000Z', 'not a moment that exists'],
    ['2026-01-01T23:59:60.000Z', 'not a moment that exists'],
    ['0000-01-01T00:00:00.000Z', 'not a moment that exists'],
  ])('%s is refused: %s', async (at, expected) => {
    expect(await problem(at)).toContain(expected);
  });
});
