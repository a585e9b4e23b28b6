import { changeIdArgument, resolveChangeId, shortId } from '../../cli/reviews/change-id';
import type { Connected } from '../../cli/reviews/connection';
import type { ListFilter, ReviewProjection } from '../../client/ports';
import { failing, hex } from '../client/fakes';
import { runCommand } from './run-command';

const projection = (changeId: string): ReviewProjection =>
  ({ changeId, summary: `UPDATE of ${shortId(changeId)}` }) as ReviewProjection;
const [ONE, TWO, THREE] = ['aaaaaaaa1'.padEnd(64, '0'), 'aaaaaaaa2'.padEnd(64, '0'), 'bbbbbbbb'.padEnd(64, '0')];

/** A list that finds by prefix, at most `limit`, and keeps what it was asked. */
function listOf(...ids: readonly string[]): {
  readonly asked: ListFilter[];
  readonly list: Connected['reviews']['list'];
} {
  const asked: ListFilter[] = [];
  const list: Connected['reviews']['list'] = async (filter = {}) => {
    asked.push(filter);
    const found = ids.filter((id) => id.startsWith(filter.idPrefix ?? '')).map(projection);
    const { limit = 50 } = filter;
    return { reviews: found.slice(0, limit), next: found.length > limit ? 'more' : null };
  };
  return { asked, list };
}

it('finds the one review that starts with eight or more digits, with one bounded query', async () => {
  const reviews = listOf(ONE, TWO, THREE);
  expect(await resolveChangeId(reviews, 'bbbbbbbb')).toBe(THREE);
  expect(await resolveChangeId(reviews, 'aaaaaaaa1')).toBe(ONE);
  expect(reviews.asked).toEqual([
    { idPrefix: 'bbbbbbbb', limit: 5 },
    { idPrefix: 'aaaaaaaa1', limit: 5 },
  ]);
});

it('takes a full id as it is, even of a review that the list does not have', async () => {
  expect(await resolveChangeId(failing({}), hex('9'))).toBe(hex('9'));
  expect(await changeIdArgument(failing({}), hex('9'))).toBe(hex('9'));
});

it('names the reviews if several start with the digits', async () => {
  const two = resolveChangeId(listOf(ONE, TWO), 'aaaaaaaa');
  await expect(two).rejects.toThrow(`give more digits:\n${ONE}  UPDATE of aaaaaaaa\n${TWO}  UPDATE of aaaaaaaa`);
  const many = Array.from({ length: 9 }, (_, i) => `aaaaaaaa${i}`.padEnd(64, '0'));
  await expect(resolveChangeId(listOf(...many), 'aaaaaaaa')).rejects.toThrow(/(aaaaaaaa\d0{55} .*\n){5}…$/);
});

it.each(['aaaaaaa', 'AAAAAAAA', 'aaaaaaaa%', '', `${hex('a')}a`])(
  'refuses %p as an id before it connects',
  async (given) => {
    await expect(resolveChangeId(failing({}), given)).rejects.toThrow('its first 8 or more digits');
    await expect(changeIdArgument(failing({}), given)).rejects.toThrow('its first 8 or more digits');
  },
);

it('says that no review starts with the digits', async () => {
  await expect(resolveChangeId(listOf(ONE), 'cccccccc')).rejects.toMatchObject({ code: 'not_found' });
});

describe.each([
  [['show', 'bbbbbbbb'], 'review'],
  [['result', 'bbbbbbbb'], 'result'],
  [['watch', 'bbbbbbbb'], 'result'],
  [['answer', 'bbbbbbbb', '--all', '--confirm', '--key', 'k'], 'key'],
  [['withdraw', 'bbbbbbbb', '--key', 'k'], 'withdraw'],
  [['ledger', 'show', 'bbbbbbbb'], 'ledgerRows'],
  [['export', 'bbbbbbbb'], 'evidence'],
  [['replay', 'bbbbbbbb'], 'evidence'],
  [['ledger', 'verify', 'bbbbbbbb'], 'verifyLedgerRows'],
  [['resolve', 'bbbbbbbb', '--applied', '--reason', 'seen', '--operator-key', 'k'], 'recordEffect'],
] as const)('without a gateway, %p', (args, called) => {
  it('passes the full id on, and refuses an ambiguous one', async () => {
    const calls: string[] = [];
    const record =
      (name: string) =>
      async (...given: unknown[]): Promise<never> => {
        calls.push(`${name} ${given.map((each) => JSON.stringify(each) ?? '').join(' ')}`);
        throw new Error('enough');
      };
    const run = (ids: readonly string[]) => {
      const names = ['review', 'result', 'withdraw', 'answer'].map((name) => [name, record(name)]);
      const reviews = failing({ ...Object.fromEntries(names), list: listOf(...ids).list } as Partial<
        Connected['reviews']
      >);
      const [ledgerRows, evidence] = [record('ledgerRows'), record('evidence')];
      const connected = { reviews, ledgerRows, evidence, keyFile: null, close: async () => undefined };
      return runCommand(args, {
        remote: {
          reviews: { connect: () => connected as unknown as Connected },
          ledger: { verifyLedgerRows: record('verifyLedgerRows') },
          operator: { recordEffect: record('recordEffect') },
        },
      });
    };
    expect((await run([ONE, THREE])).code).not.toBe(0);
    // `answer` reads the key file before the review.
    if (called !== 'key') expect(calls).toEqual([expect.stringContaining(THREE)]);
    calls.length = 0;
    expect((await run([THREE, 'bbbbbbbb1'.padEnd(64, '0')])).err).toContain('several reviews start with bbbbbbbb');
    expect(calls).toEqual([]);
  });
});

it('submit names the option of an id that is too short', async () => {
  const connected = { reviews: failing({}), temporal: {}, close: async () => undefined } as unknown as Connected;
  const args = ['submit', '-', '--target', 't', '--tool', 'SQLCAS', '--supersedes', 'xyz'];
  const { code, err } = await runCommand(args, { remote: { reviews: { connect: () => connected } }, stdin: '{}' });
  expect([code, err]).toEqual([2, expect.stringContaining('error: --supersedes: expected the change id')]);
});

it.each([
  ['answer', 'bbbbbbbb', '--all', '--confirm', '--key', 'k'],
  ['sign', 'bbbbbbbb', '--all', '--confirm', '--key', 'k'],
  ['withdraw', 'bbbbbbbb', '--key', 'k'],
  ['submit', '-', '--target', 't', '--tool', 'SQLCAS', '--supersedes', 'bbbbbbbb'],
  ['resolve', 'bbbbbbbb', '--applied', '--reason', 'seen', '--operator-key', 'k'],
])('through a gateway, %s refuses the first digits of an id and asks the gateway nothing', async (...args) => {
  const { asked, list } = listOf(THREE);
  const connected = { reviews: failing({ list }), keyFile: null, temporal: null, close: async () => undefined };
  const { code, err } = await runCommand(args, {
    remote: { reviews: { connect: () => connected as unknown as Connected } },
    stdin: '{}',
  });
  expect([code, asked]).toEqual([2, []]);
  expect(err).toContain('expected the full change id, as `countersign show` prints it, got "bbbbbbbb"');
});
