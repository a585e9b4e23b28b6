import type { JsonObject, JsonValue } from '../../policy/contracts/canonical-json';
import { Sha256Hex } from '../../policy/contracts/diff';
import type { LedgerRow, OpenedChange } from '../../policy/contracts/ledger';
import { TerminalState } from '../../policy/contracts/outcome';
import type { StoredRow } from '../../policy/evidence/chain';
import type {
  Appended,
  Ledger,
  LedgerEntry,
  RefusalCount,
  SpentNonce,
  StandingReject,
} from '../../policy/evidence/ledger-port';
import type { Queryable } from '../database/database';
import { toColumns, toProjection } from './columns';
import { createReviewReader } from './reviews';

/** The ledger in PostgreSQL. One append is one round trip (schema.ts, `ledger_append`). */
export function createLedger(db: Queryable): Ledger {
  const select = 'select change_id, n, prev, hash, kind, at, actor, body from ledger where change_id = $1';
  return {
    ...createReviewReader(db),

    async append(changeId, entries, projection, expectedN) {
      const values = [
        assertSha(changeId),
        ...toColumns(entries),
        projection === undefined ? null : toProjection(projection, entries),
        expectedN ?? null,
      ];
      const { rows } = await db.query<AppendRow>(
        'select * from ledger_append($1, $2, $3, $4, $5, $6, $7, $8, $9)',
        values,
        'ledger_append',
      );
      return rows.map((row) => toAppended(changeId, row, entries));
    },

    async read(changeId) {
      const { rows } = await db.query<TableRow>(`${select} order by n`, [changeId], 'ledger_read');
      return rows.map(toStored);
    },

    async readKinds(changeId, kinds) {
      const { rows } = await db.query<TableRow>(
        `${select} and kind = any($2) order by n`,
        [changeId, kinds],
        'ledger_read_kinds',
      );
      return rows.map(toStored);
    },

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
        assertSha(changeId),
        tenant,
        target,
        sourceTool,
        requester,
        since,
        except,
        limit,
        unknownOnlyCommitted,
      ]);
      return rows.map((row): OpenedChange => {
        // Only the committer may append this row. A state that is unknown here counts as open.
        const state = row.closed === null ? null : (TerminalState.safeParse(toBody(row.closed)['state']).data ?? null);
        const json = (text: string | null): JsonValue => (text === null ? null : (JSON.parse(text) as JsonValue));
        return { changeId: row.change_id, measure: json(row.measure), staged: json(row.staged), state };
      });
    },

    async refusalCounts(changeId) {
      const { rows } = await db.query<{ fact_key: string; count: string }>(
        'select fact_key, count from refusal_counts where change_id = $1 order by fact_key',
        [changeId],
        'ledger_refusals',
      );
      return rows.map((row): RefusalCount => ({ factKey: row.fact_key, count: Number(row.count) }));
    },

    async spentNonces(changeId) {
      const { rows } = await db.query<{ key_id: string; nonce: string; fact_key: string }>(
        'select key_id, nonce, fact_key from answer_nonces where change_id = $1',
        [changeId],
        'ledger_nonces',
      );
      return rows.map((row): SpentNonce => ({ keyId: row.key_id, nonce: row.nonce, changeId, factKey: row.fact_key }));
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

interface TableRow {
  change_id: string;
  n: number;
  prev: string;
  hash: string;
  kind: string;
  at: string;
  actor: string;
  body: string;
}

interface AppendRow {
  idx: number;
  status: Appended['status'];
  r_n: number;
  r_prev: string;
  r_hash: string;
  r_kind: string;
  r_at: string;
  r_actor: string;
  /** Body of an existing row. Null for an appended one, whose body the caller has. */
  r_body: string | null;
}

function toAppended(changeId: string, row: AppendRow, entries: readonly LedgerEntry[]): Appended {
  if (row.status !== 'appended' && row.status !== 'existing')
    return { status: row.status, existing: false, stored: null };
  const { r_n: n, r_prev: prev, r_hash: hash, r_kind: kind, r_at: at, r_actor: actor } = row;
  // Parsing the canonical text of an appended body gives the same value, except that RFC 8785 (3.2.2.3) writes -0 as 0.
  const body = row.r_body === null ? (entries[row.idx - 1]?.body ?? {}) : toBody(row.r_body);
  return {
    status: row.status,
    existing: row.status === 'existing',
    stored: {
      row: { changeId, n, prev, kind: kind as LedgerRow['kind'], at, actor, body: body as LedgerRow['body'] },
      hash,
    },
  };
}

function toBody(text: string): LedgerRow['body'] {
  return JSON.parse(text) as JsonObject as LedgerRow['body'];
}

function toStored(row: TableRow): StoredRow {
  const { change_id: changeId, n, prev, hash, kind, at, actor } = row;
  // Not validated here: verifyChain reports invalid rows with their position.
  return {
    row: {
      changeId,
      n,
      prev,
      kind: kind as LedgerRow['kind'],
      at,
      actor,
      body: toBody(row.body),
    },
    hash,
  };
}

function assertSha(changeId: string): string {
  const parsed = Sha256Hex.safeParse(changeId);
  if (!parsed.success)
    throw new TypeError(
      `Ledger: changeId "${changeId.slice(0, 100)}": ${parsed.error.issues[0]?.message ?? 'not a digest'}`,
    );
  return parsed.data;
}
