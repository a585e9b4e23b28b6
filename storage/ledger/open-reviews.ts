import { ReviewState, TerminalState } from '../../policy/contracts/outcome';
import type { Queryable } from '../database/database';

const OpenState = ReviewState.exclude(TerminalState.options);
type OpenState = (typeof OpenState.options)[number];

export interface OpenReviews {
  readonly state: OpenState;
  /** At most MAX_COUNTED. */
  readonly count: number;
  /** Seconds since the oldest of them was opened; 0 if there are none. */
  readonly oldestSeconds: number;
}

/** More are not counted, so that the time of the query is bounded. */
export const MAX_COUNTED = 10_000;

/** Open reviews by state, all states included, from the projection. */
export async function openReviews(db: Queryable): Promise<readonly OpenReviews[]> {
  const { rows } = await db.query<{ state: string; count: number; oldest: number | null }>(
    `select s.state,
            (select count(*) from (select from reviews r where r.state = s.state and r.closed_at is null limit ${MAX_COUNTED}) c)::int as count,
            (select extract(epoch from clock_timestamp() - r.opened_at) from reviews r
             where r.state = s.state and r.closed_at is null order by r.opened_at limit 1)::float8 as oldest
     from unnest($1::text[]) as s(state)`,
    [OpenState.options],
  );
  return rows.map(({ state, count, oldest }) => ({
    state: OpenState.parse(state),
    count,
    oldestSeconds: Math.max(0, oldest ?? 0),
  }));
}
