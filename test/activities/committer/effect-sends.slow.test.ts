import { effectSends } from '../../../activities/committer/effect-sends';
import { startTestPostgres, type TestDatabase, type TestPostgres } from '../../support/postgres';

let postgres: TestPostgres;
let database: TestDatabase;
beforeAll(async () => {
  postgres = await startTestPostgres();
  database = await postgres.database();
}, 60_000);
afterAll(() => postgres.stop());

test('allows at most one first send when attempts and seals of two committers race, and none after a seal', async () => {
  const [one, other] = [effectSends(database.open('cs_commit')), effectSends(database.open('cs_commit'))];
  for (let change = 0; change < 20; change++) {
    const id = `change ${change}`;
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, i) => {
        const sends = (i % 2 === 0 ? one : other)(id);
        return i % 4 === 3 ? sends.seal() : sends.begin();
      }),
    );
    const firsts = all.filter((said) => said === 'first').length;
    const sealed = all.includes('sealed');
    expect([firsts, sealed]).toEqual(sealed ? [0, true] : [1, false]);
  }
});

test('keeps the states sent and sealed permanently', async () => {
  const sends = effectSends(database.open('cs_commit'));
  expect(await sends('a').state()).toBe('none');
  expect([await sends('a').begin(), await sends('a').seal(), await sends('a').begin()]).toEqual([
    'first',
    'sent',
    'again',
  ]);
  expect([await sends('b').seal(), await sends('b').begin(), await sends('b').state()]).toEqual([
    'sealed',
    'sealed',
    'sealed',
  ]);
});
