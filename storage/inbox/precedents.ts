import { Decision } from '../../policy/contracts/answer';
import { jsonOf } from '../../policy/text/json-of';
import type { Queryable } from '../database/database';
import { Ended } from '../ledger/reviews';

const MAX_PRECEDENTS = 5;

export interface PrecedentRow {
  readonly changeId: string;
  readonly title: string;
  readonly decision: Decision;
  readonly person: string;
  readonly at: string;
  /** State, or reason of the rollback; null while the review is open. */
  readonly outcome: string | null;
}

interface Row {
  change_id: string;
  summary: string;
  decision: string;
  person: string;
  at: Date;
  closed: string | null;
}

/** The last answers to the same rule in one tenant, newest first, without those of the review itself. */
export async function readPrecedents(
  db: Queryable,
  of: { readonly tenant: string; readonly rule: string; readonly except: string },
): Promise<readonly PrecedentRow[]> {
  const { rows } = await db.query<Row>(
    `select a.change_id, r.summary, a.decision, a.person, a.at, c.body as closed from review_answers a
     join reviews r on r.change_id = a.change_id
     left join ledger c on c.change_id = a.change_id and c.fact_key = 'closed/closed'
     where a.tenant = $1 and a.rule = $2 and a.change_id <> $3 order by a.seq desc limit ${MAX_PRECEDENTS}`,
    [of.tenant, of.rule, of.except],
    'inbox_precedents',
  );
  return rows.map((row) => {
    const closed = row.closed === null ? null : Ended.safeParse(jsonOf(row.closed)).data;
    return {
      changeId: row.change_id,
      title: row.summary,
      decision: Decision.parse(row.decision),
      person: row.person,
      at: row.at.toISOString(),
      outcome: closed?.reason ?? closed?.state ?? null,
    };
  });
}
