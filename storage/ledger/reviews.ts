import { Sha256Hex } from '../../policy/contracts/diff';
import { isIdPrefix, type LedgerReader, type ReviewProjection } from '../../policy/evidence/ledger-port';
import { jsonOf } from '../../policy/text/json-of';
import type { Queryable } from '../database/database';
import { z } from 'zod';
import { ReviewState, RollbackReason, TerminalState } from '../../policy/contracts/outcome';

const MAX_PAGE = 500;

export interface ReviewRow {
  change_id: string;
  tenant: string;
  target: string;
  source_tool: string;
  input_sha: string;
  state: string;
  reason: string | null;
  mode: string;
  requester: string | null;
  pending: number;
  highest_severity: string | null;
  opened_at: Date;
  updated_at: Date;
  deadline_at: Date | null;
  closed_at: Date | null;
  summary: string;
  /** Body of the row `closed`; null if there is none. */
  closed: string | null;
}

export const SELECT_REVIEW = `select r.change_id, r.tenant, r.target, r.source_tool, r.input_sha, r.state, r.reason, r.mode, r.requester, r.pending,
    r.highest_severity, r.opened_at, r.updated_at, r.deadline_at, r.closed_at, r.summary,
    (select c.body from ledger c where c.change_id = r.change_id and c.fact_key = 'closed/closed') as closed
  from reviews r`;

/** Conditions of a query with numbered parameters, after those that it has anyway. */
export class Conditions {
  readonly values: unknown[];
  readonly #clauses: string[] = [];

  constructor(values: readonly unknown[] = []) {
    this.values = [...values];
  }

  add(clause: (...parameters: readonly string[]) => string, ...values: readonly unknown[]): void {
    const first = this.values.length + 1;
    this.values.push(...values);
    this.#clauses.push(clause(...values.map((_, i) => `$${first + i}`)));
  }

  /** `first` and all conditions. */
  after(first: string): string {
    return [first, ...this.#clauses].join(' and ');
  }
}

/**
 * Rows after one with this time and id, newest first. The first condition is where the index scan begins; the second alone would only
 * filter all rows before the page.
 */
export function olderThan(time: string, id: string): string {
  return `r.opened_at <= ${time}::timestamptz and (r.opened_at < ${time}::timestamptz or r.change_id > ${id})`;
}

/** Lists and filters reviews by the projection, without reading workflow histories. */
export function createReviewReader(db: Queryable): Pick<LedgerReader, 'review' | 'listReviews'> {
  return {
    async review(changeId) {
      const { rows } = await db.query<ReviewRow>(`${SELECT_REVIEW} where r.change_id = $1`, [changeId], 'review_one');
      return rows[0] === undefined ? null : toReview(rows[0]);
    },

    async listReviews({ tenant, state, target, idPrefix, limit, after }) {
      if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
        throw new RangeError(`limit: expected an integer from 1 to ${MAX_PAGE}, got ${limit}`);
      const query = new Conditions();
      if (tenant !== undefined) query.add((p) => `r.tenant = ${p}`, tenant);
      if (state !== undefined) query.add((p) => `r.state = ${p}`, state);
      if (target !== undefined) query.add((p) => `r.target = ${p}`, target);
      if (idPrefix !== undefined) {
        if (!isIdPrefix(idPrefix)) throw new RangeError(`idPrefix: expected 8 to 64 hex digits, got "${idPrefix}"`);
        // A range, not "like": it uses the index of the primary key under any collation, because all ids have the same form.
        query.add(
          (from, to) => `r.change_id between ${from} and ${to}`,
          idPrefix.padEnd(64, '0'),
          idPrefix.padEnd(64, 'f'),
        );
      }
      if (after !== undefined) query.add(olderThan, ...fromCursor(after));
      const { rows } = await db.query<ReviewRow>(
        `${SELECT_REVIEW} where ${query.after('true')} order by r.opened_at desc, r.change_id limit ${limit + 1}`,
        query.values,
      );
      const reviews = rows.slice(0, limit).map(toReview);
      const last = reviews.at(-1);
      return { reviews, next: rows.length > limit && last !== undefined ? `${last.openedAt}~${last.changeId}` : null };
    },
  };
}

function fromCursor(after: string): [Date, string] {
  const [openedAt = '', changeId = ''] = after.split('~');
  const time = new Date(openedAt);
  // Not before 1970, as in the inbox: PostgreSQL has no time before 4713 BC.
  if (!(time.getTime() >= 0) || !Sha256Hex.safeParse(changeId).success)
    throw new RangeError('after: expected the value of `next` from the previous page');
  return [time, changeId];
}

export function toReview(row: ReviewRow): ReviewProjection {
  const closedAt = row.closed_at?.toISOString() ?? null;
  return {
    changeId: row.change_id,
    tenant: row.tenant,
    target: row.target,
    sourceTool: row.source_tool,
    inputSha: row.input_sha,
    ...listedEnd(row.closed === null ? null : jsonOf(row.closed), { state: row.state, closedAt }),
    mode: row.mode as ReviewProjection['mode'],
    requester: row.requester,
    pending: row.pending,
    highestSeverity: row.highest_severity as ReviewProjection['highestSeverity'],
    openedAt: row.opened_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    deadlineAt: row.deadline_at?.toISOString() ?? null,
    summary: row.summary,
  };
}

/** How a review has ended, in the body of its row `closed`. */
export const Ended = z.object({ state: TerminalState, reason: RollbackReason.nullable() });
const Open = ReviewState.exclude(TerminalState.options);

/**
 * State, reason and end of a listed review. The projection is an index: that a review has ended, and how, comes from the body of its
 * row `closed`, which only the committer may append. A review whose row is absent or cannot be read is not shown as ended.
 */
export function listedEnd(
  closed: unknown,
  projection: { readonly state: string; readonly closedAt: string | null },
): Pick<ReviewProjection, 'state' | 'reason' | 'closedAt'> {
  const ended = Ended.safeParse(closed);
  if (ended.success) return { ...ended.data, closedAt: projection.closedAt };
  return { state: Open.safeParse(projection.state).data ?? 'COMMITTING', reason: null, closedAt: null };
}
