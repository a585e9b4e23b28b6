import { effectSends } from '../../../activities/committer/effect-sends';
import { useFreshDatabase } from '../../support/postgres';

const database = useFreshDatabase();

test.each(['read committed', 'repeatable read'])(
  'allows one send when attempts of two committers race, and every seal sees the send that it did not prevent, also if the role defaults to %s',
  async (isolation) => {
    const set = `set default_transaction_isolation = '${isolation}'`;
    await database.open('admin').query(`alter role cs_commit in database ${database.name} ${set}`);
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
  },
);

test('allows a request again only if the target applies it once, and none after the seal, also after one was sent', async () => {
  const sends = effectSends(database.open('cs_commit'));
  expect(await sends('a').state()).toEqual({ sent: false, undoing: null, sealed: false });
  expect(await sends('a').begin({ resend: false })).toMatchObject({ kind: 'begun', again: false });
  expect(await sends('a').begin({ resend: false })).toEqual({ kind: 'sent' });
  expect(await sends('a').begin({ resend: true })).toMatchObject({ kind: 'begun', again: true });
  expect(await sends('a').seal()).toEqual({ sent: true, undoing: null, sealed: true });
  expect(await sends('a').begin({ resend: true })).toEqual({ kind: 'sealed' });
  expect(await sends('b').seal()).toEqual({ sent: false, undoing: null, sealed: true });
  expect(await sends('b').seal()).toEqual({ sent: false, undoing: null, sealed: true });
  expect(await sends('b').begin({ resend: true })).toEqual({ kind: 'sealed' });
});

test('takes back one request, and counts the others as sent', async () => {
  const sends = effectSends(database.open('cs_commit'))('c');
  const [first, second] = [await sends.begin({ resend: true }), await sends.begin({ resend: true })];
  if (first.kind !== 'begun' || second.kind !== 'begun') throw new Error('A request was not begun');
  await first.takeBack();
  expect(await sends.state()).toMatchObject({ sent: true });
  await second.takeBack();
  expect(await sends.state()).toMatchObject({ sent: false });
  expect(await sends.begin({ resend: false })).toMatchObject({ kind: 'begun', again: false });
  expect(await sends.seal()).toMatchObject({ sent: true });
});

test('lets one attempt undo, and only before the seal; when both race, one is first', async () => {
  const [one, other] = [effectSends(database.open('cs_commit')), effectSends(database.open('cs_commit'))];
  const why = 'no \u0000, no \ud800';
  for (let change = 0; change < 10; change++) {
    const id = `undone ${change}`;
    await one(id).begin({ resend: false });
    const [undo, again, sealed] = await Promise.all([
      one(id).beginUndo(why),
      other(id).beginUndo('other'),
      (change % 2 === 0 ? one : other)(id).seal(),
    ]);
    expect(undo && again).toBe(false);
    expect(sealed.undoing).toBe(undo ? why : again ? 'other' : null);
    expect(await one(id).beginUndo(why)).toBe(false);
    expect(await other(id).begin({ resend: true })).toEqual({ kind: 'sealed' });
  }
});
