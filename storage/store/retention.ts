import type { Queryable } from '../database/database';

/** A closed review whose diff is still in the store. */
export interface DueReview {
  readonly changeId: string;
  readonly tenant: string;
  readonly diffSha: string;
}

const SUBMITTED = `(l.body::json->'submission'->>'diffSha')`;

/**
 * Reviews that closed before `before`, with a stored diff that no open or later closed review has too, the oldest first. At
 * most `limit`.
 */
export async function dueReviews(db: Queryable, before: Date, limit: number): Promise<readonly DueReview[]> {
  const { rows } = await db.query<{ change_id: string; tenant: string; diff_sha: string }>(
    `with submitted as (
       select r.change_id, r.tenant, r.closed_at, ${SUBMITTED} as diff_sha
       from reviews r join ledger l on l.change_id = r.change_id and l.kind = 'submitted'
     )
     select s.change_id, s.tenant, s.diff_sha from submitted s
     where s.closed_at < $1
       and exists (select from blobs b where b.tenant = s.tenant and b.digest = s.diff_sha)
       and not exists (
         select from submitted o
         where o.tenant = s.tenant and o.diff_sha = s.diff_sha and (o.closed_at is null or o.closed_at >= $1)
       )
     order by s.closed_at, s.change_id limit $2`,
    [before, limit],
  );
  return rows.map((row) => ({ changeId: row.change_id, tenant: row.tenant, diffSha: row.diff_sha }));
}

/**
 * Deletes the diffs of these reviews, but none that another review has too. Returns how many were deleted. A change that is submitted
 * at the same time with the same diff can miss it: its review is then refused, and the change can be submitted again.
 */
export async function deleteDiffs(db: Queryable, reviews: readonly DueReview[]): Promise<number> {
  const { rowCount } = await db.query(
    `with wanted as (select * from unnest($1::text[], $2::text[]) as w(tenant, diff_sha)),
     needed as (
       select r.tenant, ${SUBMITTED} as diff_sha
       from reviews r join ledger l on l.change_id = r.change_id and l.kind = 'submitted'
       where r.change_id <> all($3::text[])
     )
     delete from blobs b using wanted w
     where b.tenant = w.tenant and b.digest = w.diff_sha
       and not exists (select from needed n where n.tenant = b.tenant and n.diff_sha = b.digest)`,
    [
      reviews.map(({ tenant }) => tenant),
      reviews.map(({ diffSha }) => diffSha),
      reviews.map(({ changeId }) => changeId),
    ],
  );
  return rowCount ?? 0;
}
