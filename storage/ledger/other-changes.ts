import { z } from 'zod';
import type { JsonValue } from '../../policy/contracts/canonical-json';
import type { MeasuredChange } from '../../policy/contracts/ledger';
import { TerminalState } from '../../policy/contracts/outcome';
import type { Ledger, StandingReject } from '../../policy/evidence/ledger-port';
import { jsonOf } from '../../policy/text/json-of';
import type { Queryable } from '../database/database';
import { assertChangeId } from './assert-change-id';

const Closed = z.object({ state: TerminalState });

/** What the rules that look at other changes read: rejects of the same content, and changes that were opened before. */
export function createOtherChangesReader(db: Queryable): Pick<Ledger, 'rejectedInputs' | 'openedBefore'> {
  return {
    async rejectedInputs({ inputSha, factsSha }, exceptChangeId) {
      const { rows } = await db.query<{ change_id: string; n: number; at: string }>(
        `select l.change_id, l.n, l.at from ledger s join ledger l on l.change_id = s.change_id and l.mark = 'reject'
         where s.kind = 'submitted' and (s.input_sha = $1 or s.facts_sha = $2) and s.change_id <> $3 order by l.seq desc limit 20`,
        [inputSha, factsSha, exceptChangeId],
        'ledger_rejected_inputs',
      );
      return rows.map((row): StandingReject => ({ changeId: row.change_id, n: row.n, at: row.at }));
    },

    async openedBefore({
      changeId,
      tenant,
      target,
      sourceTool,
      requester,
      since,
      except,
      limit,
      unknownOnlyCommitted,
    }) {
      const { rows } = await db.query<OpenedRow>(OPENED_BEFORE, [
        assertChangeId(changeId),
        tenant,
        target,
        sourceTool,
        requester,
        since,
        except,
        limit,
        unknownOnlyCommitted,
      ]);
      return rows.map((row): MeasuredChange => {
        // Only the committer may append this row. A state that is unknown here counts as open.
        const state = row.closed === null ? null : (Closed.safeParse(jsonOf(row.closed)).data?.state ?? null);
        const json = (text: string | null): JsonValue => (text === null ? null : (JSON.parse(text) as JsonValue));
        return { changeId: row.change_id, measure: json(row.measure), staged: json(row.staged), state };
      });
    },
  };
}

/**
 * Ordered by the ledger, not by time. The projection only finds candidates; `measure` and the end come from ledger rows, which only
 * roles with that kind may append. Not a prepared statement: a generic plan for any time window would read all reviews. MATERIALIZED,
 * because the planner would otherwise scan the full ledger from its end.
 */
const OPENED_BEFORE = `
with own as (
  select coalesce((select s.seq from ledger s where s.change_id = $1 and s.fact_key = 'submitted/submitted'), 9223372036854775807) as seq
), candidates as materialized (
  select r.change_id, r.requester from reviews r
  where ($2::text is null or r.tenant = $2) and r.opened_at > $6::timestamptz and r.change_id <> $1
    and ($3::text is null or r.target = $3) and ($4::text is null or r.source_tool = $4)
    and ($5::text is null or r.requester is null or r.requester = $5)
)
select l.change_id, l.measure, c.body as closed,
  (select s.measure from ledger s
   where s.change_id = r.change_id and s.kind = 'staged' and s.measure is not null and s.seq < own.seq order by s.seq desc limit 1) as staged
from own, candidates r
join ledger l on l.change_id = r.change_id and l.fact_key = 'submitted/submitted'
left join ledger c on c.change_id = r.change_id and c.fact_key = 'closed/closed'
left join ledger i on i.change_id = r.change_id and i.fact_key = 'settlement/settlement' and i.kind = 'intent'
where l.seq < own.seq
  and l.measure is not null
  and (not $9::boolean or r.requester is not null or (i.seq < own.seq and coalesce(c.body::json->>'state', '') <> 'ROLLED_BACK'))
  and (c.body is null or not (c.body::json->>'state' = 'ROLLED_BACK' and c.body::json->>'reason' = any($7::text[])))
order by l.seq desc limit $8`;

interface OpenedRow {
  change_id: string;
  measure: string | null;
  staged: string | null;
  closed: string | null;
}
