import type { Queryable } from '../../storage/database/database';

/**
 * Change ids of open reviews, and of those that were opened in the last nine days and closed in the last two. If there are more than
 * `max`, a sample that differs each day, with at most half of them closed.
 */
export async function reviewsToReplay(db: Queryable, max: number): Promise<readonly string[]> {
  const sample = `order by md5(change_id || current_date::text)`;
  const { rows: closed } = await db.query<{ change_id: string }>(
    `select change_id from reviews where closed_at > now() - interval '2 days' and opened_at > now() - interval '9 days'
     ${sample} limit $1`,
    [max],
  );
  const { rows: open } = await db.query<{ change_id: string }>(
    `select change_id from reviews where closed_at is null ${sample} limit $1`,
    [max],
  );
  const openCount = Math.min(open.length, Math.max(max - closed.length, Math.ceil(max / 2)));
  return [...open.slice(0, openCount), ...closed.slice(0, max - openCount)].map((row) => row.change_id);
}
