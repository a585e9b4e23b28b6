import type { Database } from '../../storage/database/database';
import { reviewsToReplay } from '../../workers/replay/reviews-to-replay';
import { useDatabase } from '../support/postgres';

const database = useDatabase();
let admin: Database;
beforeAll(() => void (admin = database.open('admin')));

/** `closed`: SQL of the time at which it closed. */
async function reviews(prefix: string, n: number, closed: string): Promise<void> {
  await admin.query(
    `insert into reviews (change_id, tenant, target, source_tool, input_sha, state, mode, pending, opened_at, updated_at, closed_at, summary)
     select $1 || i, 't', 'shop', 'SQLDryRun', 'x', 'x', 'review', 1, now() - interval '3 days', now(), ${closed}, 'x'
     from generate_series(1, $2::int) as i`,
    [prefix, n],
  );
}
const kinds = (changeIds: readonly string[]): string =>
  changeIds
    .map((id) => id.slice(0, 1))
    .sort()
    .join('');

test('a sample has at most half closed reviews, with every open review none is left out, and both say how many there are', async () => {
  await reviews('o', 6, 'null');
  await reviews('c', 6, `now() - interval '1 hour'`);
  await reviews('old', 6, `now() - interval '50 hours'`);
  const chosen = async (max: number, everyOpen: boolean) => {
    const { changeIds, of } = await reviewsToReplay(admin, { max, everyOpen });
    return [kinds(changeIds), of];
  };
  expect(await chosen(4, false)).toEqual(['ccoo', 12]);
  expect(await chosen(4, true)).toEqual(['oooooo', 12]);
  expect(await chosen(8, true)).toEqual(['ccoooooo', 12]);
  expect(await chosen(100, false)).toEqual(['ccccccoooooo', 12]);
});
