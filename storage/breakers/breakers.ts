/** Reads and writes the rows of the circuit breakers. The database sets the order and the time of each row. */
import type { Envelope } from '../../policy/contracts/diff';
import { BREAKER_PARAMETERS, type BreakerParameters } from '../../policy/decide/breaker';
import { foldBreakers } from '../../policy/evidence/breaker-rows';
import {
  packBreakers,
  phaseOf,
  reserveProbe,
  viewAt,
  type BreakerView,
  type Breakers,
} from '../../policy/decide/breakers';
import type { BreakerReset } from '../../policy/evidence/predicates';
import { signPredicate } from '../../signing/envelope';
import type { SigningKey } from '../../signing/keys';
import { signedByOperator } from '../../signing/signed-by';
import type { Database, Queryable } from '../database/database';
import type { OperatorKey } from '../../signing/operator-key';

interface BreakerPair {
  readonly tenant: string;
  readonly sourceTool: string;
}

export interface BreakersReading extends BreakerPair {
  /** Null if a row cannot be read: all breakers then count as open until an operator resets all of them. */
  readonly breakers: readonly BreakerView[] | null;
  /** Time of the database, in milliseconds since the epoch. */
  readonly at: number;
}

/** Validators whose breaker does not let a change pass, with the changes that opened it. `'unknown'`: a row cannot be read. */
export type Blocked = 'unknown' | readonly { readonly validatorId: string; readonly evidence: readonly string[] }[];

export interface BreakerStore {
  read(pair: BreakerPair): Promise<BreakersReading>;
  /** Every pair that has rows. */
  list(): Promise<readonly BreakersReading[]>;
  /** May make the change the probe of half-open breakers; a second call for the same change gives the same result. */
  pass(pair: BreakerPair, changeId: string, validatorIds: readonly string[]): Promise<Blocked>;
  /** Appends a row `state` if there are many rows since the last one. */
  compact(pair: BreakerPair): Promise<void>;
}

interface BreakerStoreDeps {
  readonly db: Database;
  /** Public keys of the operators whose resets count. */
  readonly operators: readonly OperatorKey[];
  readonly parameters?: BreakerParameters;
}

/** A row `state` follows after this many rows. */
const COMPACT_AFTER = 200;
/** More rows than the committer can have left since the last `state`: the older ones are not read, and count as one that cannot be read. */
const MAX_ROWS = 5_000;
const UNREAD = { kind: 'unread', changeId: null, body: '', at: 0 };
/** Of the advisory lock that the trigger of the table takes as well. */
const SEED = 2;

export function createBreakers({ db, operators, parameters = BREAKER_PARAMETERS }: BreakerStoreDeps): BreakerStore {
  const signedReset = (pair: BreakerPair) => (body: unknown) => {
    const reset = signedByOperator('breaker-reset', body, operators);
    return reset?.tenant === pair.tenant && reset.sourceTool === pair.sourceTool ? reset : null;
  };

  async function fold(
    tx: Queryable,
    pair: BreakerPair,
  ): Promise<{ breakers: Breakers | null; at: number; rows: number }> {
    const { rows } = await tx.query<Row>(ROWS, [pair.tenant, pair.sourceTool, MAX_ROWS + 1], 'breaker_rows');
    const at = Number(rows[0]?.now ?? 0);
    const read = rows.map((row) => ({ ...row, changeId: row.change_id, at: Number(row.at) }));
    const all = rows.length > MAX_ROWS ? [UNREAD, ...read] : read;
    return { breakers: foldBreakers(all, parameters, signedReset(pair)), at, rows: rows.length };
  }

  const locked = <T>(pair: BreakerPair, work: (tx: Queryable) => Promise<T>): Promise<T> =>
    db.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock(hashtextextended($1, $2))', [
        `${pair.tenant}/${pair.sourceTool}`,
        SEED,
      ]);
      return work(tx);
    });

  async function read(pair: BreakerPair): Promise<BreakersReading> {
    const { breakers, at } = await fold(db, pair);
    return { ...pair, breakers: breakers === null ? null : viewAt(breakers, at, parameters), at };
  }

  return {
    read,

    async list() {
      const { rows } = await db.query<{ tenant: string; source_tool: string }>(PAIRS);
      const listed: BreakersReading[] = [];
      for (const row of rows) listed.push(await read({ tenant: row.tenant, sourceTool: row.source_tool }));
      return listed;
    },

    async pass(pair, changeId, validatorIds) {
      const first = await fold(db, pair);
      if (first.breakers === null) return 'unknown';
      const met = openAmong(first.breakers, validatorIds);
      // Without the lock: the usual case, in which no breaker is open, or one that lets nothing pass.
      const certain = reserveProbe(first.breakers, changeId, met, first.at, parameters).blocked;
      if (met.length === 0 || certain.length > 0) return evidenceOf(first.breakers, certain);
      return locked(pair, async (tx) => {
        const { breakers, at } = await fold(tx, pair);
        if (breakers === null) return 'unknown';
        const ids = openAmong(breakers, validatorIds);
        const { blocked } = reserveProbe(breakers, changeId, ids, at, parameters);
        const free = viewAt(breakers, at, parameters).some(
          (view) => ids.includes(view.validatorId) && phaseOf(view, at) === 'half_open',
        );
        if (blocked.length === 0 && free) await insert(tx, pair, 'probe', changeId, ids);
        return evidenceOf(breakers, blocked);
      });
    },

    async compact(pair) {
      const { rows: counted } = await db.query<{ count: number }>(
        COUNT,
        [pair.tenant, pair.sourceTool],
        'breaker_count',
      );
      if ((counted[0]?.count ?? 0) <= COMPACT_AFTER) return;
      await locked(pair, async (tx) => {
        const { breakers, rows } = await fold(tx, pair);
        if (breakers !== null && rows > COMPACT_AFTER) await insert(tx, pair, 'state', null, packBreakers(breakers));
      });
    },
  };
}

/** Signs a reset and appends its row. The time is that of this machine, and must be near that of the database. */
export async function recordBreakerReset(
  db: Queryable,
  reset: Omit<BreakerReset, 'keyId'>,
  operator: SigningKey,
): Promise<void> {
  const envelope: Envelope = signPredicate('breaker-reset', { ...reset, keyId: operator.keyId }, operator);
  await insert(db, reset, 'reset', null, envelope);
}

async function insert(
  tx: Queryable,
  { tenant, sourceTool }: BreakerPair,
  kind: 'probe' | 'state' | 'reset',
  changeId: string | null,
  body: unknown,
): Promise<void> {
  await tx.query('insert into breaker_rows (tenant, source_tool, kind, change_id, body) values ($1, $2, $3, $4, $5)', [
    tenant,
    sourceTool,
    kind,
    changeId,
    JSON.stringify(body),
  ]);
}

function openAmong({ byValidator }: Breakers, validatorIds: readonly string[]): string[] {
  return validatorIds.filter((id) => byValidator.get(id)?.state === 'open');
}

function evidenceOf({ byValidator }: Breakers, blocked: readonly string[]): Exclude<Blocked, 'unknown'> {
  return blocked.map((validatorId) => {
    const breaker = byValidator.get(validatorId);
    return { validatorId, evidence: breaker?.state === 'open' ? breaker.evidence : [] };
  });
}

interface Row {
  readonly kind: string;
  readonly change_id: string | null;
  readonly body: string;
  readonly at: string;
  readonly now: string;
}

/** One step in the index for each pair: there is a row for each review. */
const PAIRS = `
with recursive pairs as (
  (select tenant, source_tool from breaker_rows order by tenant, source_tool limit 1)
  union all
  select b.tenant, b.source_tool from pairs p cross join lateral
    (select tenant, source_tool from breaker_rows where (tenant, source_tool) > (p.tenant, p.source_tool) order by tenant, source_tool limit 1) b
) select tenant, source_tool from pairs`;
const SINCE_STATE = `
from breaker_rows
where tenant = $1 and source_tool = $2
  and seq >= coalesce((select max(s.seq) from breaker_rows s where s.tenant = $1 and s.source_tool = $2 and s.kind = 'state'), 0)`;
const ROWS = `
select kind, change_id, body, floor(extract(epoch from at) * 1000)::bigint as at,
       floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now
from (select * ${SINCE_STATE} order by seq desc limit $3) newest order by seq`;
const COUNT = `select count(*)::int as count ${SINCE_STATE}`;
