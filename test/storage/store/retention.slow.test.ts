import { sha256HexOfText } from '../../../policy/contracts/hash';
import type { Database } from '../../../storage/database/database';
import { createByteStore } from '../../../storage/store/byte-store';
import {
  deleteDiffs,
  deleteJudgeAnswers,
  deleteUnopened,
  dueReviews,
  type DueReview,
} from '../../../storage/store/retention';
import { useFreshDatabase } from '../../support/postgres';

const database = useFreshDatabase();
let admin: Database;
let operator: Database;
beforeEach(async () => {
  [admin, operator] = [database.open('admin'), database.open('cs_operator')];
});

const BEFORE = new Date('2026-06-01T00:00:00.000Z');
const at = (day: number): string => `2026-05-${String(day).padStart(2, '0')}T10:00:00.000001Z`;

/** A review with this diff; null for an open one. */
async function review(name: string, diff: string, closedAt: string | null, text = ''): Promise<string> {
  const changeId = sha256HexOfText(name);
  const diffSha = await createByteStore(admin).put('acme', new TextEncoder().encode(diff));
  await admin.query(
    `insert into ledger (change_id, n, prev, hash, kind, at, actor, body, fact_key)
     values ($1, 0, '', '', 'submitted', '', 'x', $2, 'submitted')`,
    [changeId, JSON.stringify({ submission: { diffSha, text } })],
  );
  await admin.query(
    `insert into reviews (change_id, tenant, target, source_tool, input_sha, state, mode, pending, opened_at, updated_at, closed_at, summary)
     values ($1, 'acme', 'shop', 'SQLDryRun', 'x', 'COMMITTED', 'review', 0, now(), now(), $2, 'x')`,
    [changeId, closedAt],
  );
  return changeId;
}

async function due(page?: number): Promise<readonly DueReview[]> {
  const found: DueReview[] = [];
  for await (const each of dueReviews(operator, BEFORE, page)) found.push(each);
  return found;
}
const dueIds = async (page?: number): Promise<readonly string[]> => (await due(page)).map(({ changeId }) => changeId);

it('lists each closed review once, the oldest first, across pages and for equal times', async () => {
  const ids = [];
  for (let i = 0; i < 3; i++) ids.push(await review(`same ${i}`, `diff ${i}`, at(2)));
  const youngest = await review('youngest', 'd', at(3));
  const oldest = await review('oldest', 'e', at(1));
  await review('open', 'f', null);
  await review('later', 'g', BEFORE.toISOString());
  const expected = [oldest, ...ids.sort(), youngest];
  for (const page of [1, 2, 5, 1000]) expect(await dueIds(page)).toEqual(expected);
});

it('lists a review whose diff an open or younger review has too, and deletes that diff only with the last of them', async () => {
  const first = await review('first', 'weekly', at(1));
  const second = await review('second', 'weekly', at(8));
  await review('open', 'weekly', null);
  expect(await dueIds()).toEqual([first, second]);
  expect(await deleteDiffs(operator, await due())).toBe(0);
  await admin.query('update reviews set closed_at = $1 where closed_at is null', [at(15)]);
  const all = await due();
  expect(await deleteDiffs(operator, all.slice(1))).toBe(0);
  expect(await deleteDiffs(operator, all)).toBe(1);
  expect(await dueIds()).toEqual([]);
});

it('lists a review with a NUL in its submission, and those after it', async () => {
  const ids = [await review('nul', 'n', at(1), 'a\0b'), await review('next', 'm', at(2))];
  expect(await dueIds()).toEqual(ids);
  expect(await deleteDiffs(operator, await due())).toBe(2);
});

it('deletes a diff that was uploaded long ago and that no opened review has, and no other', async () => {
  await review('open', 'opened', null);
  const upload = (tenant: string, diff: string): Promise<string> =>
    createByteStore(admin).put(tenant, new TextEncoder().encode(diff));
  await upload('acme', 'never opened');
  await upload('other', 'opened');
  await admin.query('update blobs set created_at = $1', [at(30)]);
  await upload('acme', 'late');
  await admin.query(`update blobs set created_at = '2026-05-31T12:00:00Z' where created_at > $1`, [at(31)]);
  expect(await deleteUnopened(operator, BEFORE)).toBe(2);
  const { rows } = await admin.query(
    `select tenant, convert_from(bytes, 'UTF8') as diff from blobs order by created_at`,
  );
  expect(rows).toEqual([
    { tenant: 'acme', diff: 'opened' },
    { tenant: 'acme', diff: 'late' },
  ]);
});

it('deletes the stored answers of the judge that are not used any more, and no other', async () => {
  await admin.query(`insert into judge_answers (key, reply, at, mac) values ('old', '', $1, ''), ('new', '', $2, '')`, [
    BEFORE.getTime() - 1,
    BEFORE.getTime(),
  ]);
  await deleteJudgeAnswers(operator, BEFORE);
  expect((await admin.query('select key from judge_answers')).rows).toEqual([{ key: 'new' }]);
});
