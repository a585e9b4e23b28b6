import { effectSends } from '../../../activities/committer/effect-sends';
import { startTestPostgres, type TestDatabase, type TestPostgres } from '../../support/postgres';

let postgres: TestPostgres;
let database: TestDatabase;
beforeAll(async () => {
  postgres = await startTestPostgres();
  database = await postgres.database();
}, 60_000);
afterAll(() => postgres.stop());

test('allows one send when attempts of two committers race, and every seal sees the send that it did not prevent', async () => {
  const [one, other] = [effectSends(database.open('cs_commit')), effectSends(database.open('cs_commit'))];
  for (let change = 0; change < 20; change++) {
    const id = `change ${change}`;
    const sealed: boolean[] = [];
    const begun = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        const sends = (i % 2 === 0 ? one : other)(id);
        if (i % 4 !== change % 4) return (await sends.begin({ resend: false })).kind;
        sealed.push((await sends.seal()).sent);
        return 'seal';
      }),
    );
    const sends = begun.filter((kind) => kind === 'begun').length;
    expect(sends).toBeLessThan(2);
    expect(new Set(sealed)).toEqual(new Set([sends === 1]));
  }
});

test('allows a request again only if the target applies it once, and none after the seal, also after one was sent', async () => {
  const sends = effectSends(database.open('cs_commit'));
  expect(await sends('a').state()).toEqual({ sent: false, sealed: false });
  expect(await sends('a').begin({ resend: false })).toEqual({ kind: 'begun', again: false });
  expect(await sends('a').begin({ resend: false })).toEqual({ kind: 'sent' });
  expect(await sends('a').begin({ resend: true })).toEqual({ kind: 'begun', again: true });
  expect(await sends('a').seal()).toEqual({ sent: true, sealed: true });
  expect(await sends('a').begin({ resend: true })).toEqual({ kind: 'sealed' });
  expect(await sends('b').seal()).toEqual({ sent: false, sealed: true });
  expect(await sends('b').seal()).toEqual({ sent: false, sealed: true });
  expect(await sends('b').begin({ resend: true })).toEqual({ kind: 'sealed' });
  expect(await sends('b').state()).toEqual({ sent: false, sealed: true });
});
