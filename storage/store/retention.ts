import type { Queryable } from '../database/database';

/** A closed review whose diff is still in the store. */
export interface DueReview {
  readonly changeId: string;
  readonly tenant: string;
  readonly diffSha: string;
}

/** PostgreSQL cannot read a member of JSON that has a NUL in any of its texts. The same as `json_of`, which operators may not execute. */
const BODY = String.raw`(case when strpos(l.body, '\u0000') = 0 then l.body
  else regexp_replace(l.body, '(?<!\\)((?:\\\\)*)\\u0000', '\1\\ufffd', 'g') end)::json`;
const SUBMITTED = `(${BODY}->'submission'->>'diffSha')`;
const PAGE = 1000;

/** Reviews that closed before `before`, with a stored diff, the oldest first. `page`: how many are read at once. */
export async function* dueReviews(db: Queryable, before: Date, page = PAGE): AsyncGenerator<DueReview> {
  for (let last: string | null = null; ;) {
    const found = await dueAfter(db, before, last, page);
    yield* found;
    if (found.length < page) return;
    last = found.at(-1)?.changeId ?? null;
  }
}

async function dueAfter(
  db: Queryable,
  before: Date,
  changeId: string | null,
  limit: number,
): Promise<readonly DueReview[]> {
  const { rows } = await db.query<{ change_id: string; tenant: string; diff_sha: string }>(
    `select r.change_id, r.tenant, ${SUBMITTED} as diff_sha
     from reviews r join ledger l on l.change_id = r.change_id and l.kind = 'submitted'
     where r.closed_at < $1
       and ($2::text is null
            or (r.closed_at, r.change_id) > (select c.closed_at, c.change_id from reviews c where c.change_id = $2))
       and exists (select from blobs b where b.tenant = r.tenant and b.digest = ${SUBMITTED})
     order by r.closed_at, r.change_id limit $3`,
    [before, changeId, limit],
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

/**
 * Deletes the diffs that were uploaded a day or more before `before`, which must have passed, and that no opened review has: a review that
 * is not opened within a day ends. Returns how many were deleted. A change that is submitted at the same time can miss its diff, as above.
 */
export async function deleteUnopened(db: Queryable, before: Date): Promise<number> {
  const { rowCount } = await db.query(
    `with needed as (
       select r.tenant, ${SUBMITTED} as diff_sha
       from reviews r join ledger l on l.change_id = r.change_id and l.kind = 'submitted'
     )
     delete from blobs b
     where b.created_at < $1::timestamptz - interval '1 day'
       and not exists (select from needed n where n.tenant = b.tenant and n.diff_sha = b.digest)`,
    [before],
  );
  return rowCount ?? 0;
}

/** Deletes the answers of the judge that were stored for the same change before `before`, a day or more ago: they are not used any more. */
export async function deleteJudgeAnswers(db: Queryable, before: Date): Promise<void> {
  await db.query('delete from judge_answers where at < $1', [before.getTime()]);
}
