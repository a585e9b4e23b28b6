import type { Queryable } from '../../storage/database/database';
import type { OpenReview } from './problem';

export const MAX_REVIEWS_PER_PASS = 500;

interface OpenRow {
  change_id: string;
  state: string;
  opened_at: Date;
  updated_at: Date;
  deadline_at: Date | null;
  answered: boolean;
}

const OPEN = `select change_id, state, opened_at, updated_at, deadline_at, pending = 0 or exists (
    select from ledger l where l.change_id = reviews.change_id and l.fact_key = 'stopped/stopped') as answered
  from reviews where closed_at is null`;

/** The next reviews in the order of their ids, at most 500. */
export async function openAfter(db: Queryable, changeId: string): Promise<readonly OpenReview[]> {
  const { rows } = await db.query<OpenRow>(
    `${OPEN} and change_id > $1 order by change_id limit ${MAX_REVIEWS_PER_PASS}`,
    [changeId],
  );
  return toReviews(rows);
}

/** Those of these reviews that are open. */
export async function openAmong(db: Queryable, changeIds: readonly string[]): Promise<readonly OpenReview[]> {
  const { rows } = await db.query<OpenRow>(`${OPEN} and change_id = any($1)`, [changeIds]);
  return toReviews(rows);
}

function toReviews(rows: readonly OpenRow[]): readonly OpenReview[] {
  return rows.map((row) => ({
    changeId: row.change_id,
    state: row.state as OpenReview['state'],
    openedAt: row.opened_at.getTime(),
    updatedAt: row.updated_at.getTime(),
    deadlineAt: row.deadline_at?.getTime() ?? null,
    answered: row.answered,
  }));
}
