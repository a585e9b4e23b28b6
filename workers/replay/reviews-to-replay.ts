import type { Queryable } from '../../storage/database/database';

interface ReviewsToReplay {
  readonly changeIds: readonly string[];
  /** Number of reviews that these were chosen from. */
  readonly of: number;
}

const OPEN = 'closed_at is null';
const CLOSED = `closed_at > now() - interval '2 days' and opened_at > now() - interval '9 days'`;

/**
 * Change ids of open reviews, and of those that were opened in the last nine days and closed in the last two. If there are more than
 * `max`, a random sample that differs each day, with at most half of them closed; with `everyOpen`, all open ones even so.
 */
export async function reviewsToReplay(
  db: Queryable,
  { max, everyOpen }: { readonly max: number; readonly everyOpen: boolean },
): Promise<ReviewsToReplay> {
  const chosen = async (which: string, limit: number | null): Promise<readonly string[]> => {
    const { rows } = await db.query<{ change_id: string }>(
      `select change_id from reviews where ${which} order by md5(change_id || current_date::text) limit $1`,
      [limit],
    );
    return rows.map((row) => row.change_id);
  };
  const closed = await chosen(CLOSED, max);
  const open = await chosen(OPEN, everyOpen ? null : max);
  const openCount = everyOpen ? open.length : Math.min(open.length, Math.max(max - closed.length, Math.ceil(max / 2)));
  const { rows } = await db.query<{ n: number }>(
    `select count(*)::int as n from reviews where (${OPEN}) or (${CLOSED})`,
  );
  const changeIds = [...open.slice(0, openCount), ...closed.slice(0, Math.max(0, max - openCount))];
  // Reviews can be opened or closed between the queries.
  return { changeIds, of: Math.max(changeIds.length, rows[0]?.n ?? 0) };
}
