import { LedgerKind } from '../../policy/contracts/ledger';
import type { Queryable } from '../database/database';

/** A row of the ledger as it was appended. */
export interface TailedRow {
  readonly kind: LedgerKind;
  /** Canonical JSON; null if it is longer than MAX_BODY_CHARS. */
  readonly body: string | null;
  /** Seconds since the violations of its change were disclosed; null if they were not. */
  readonly secondsSinceDisclosed: number | null;
}

interface TailOptions {
  readonly db: Queryable;
  readonly kinds: readonly LedgerKind[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const PAGE_ROWS = 200;
const MAX_BODY_CHARS = 256 * 1024;
/** Transactions last seconds (statement_timeout): after a minute, a seq that has no row never gets one. */
const GAP_MS = 60_000;
const MAX_GAPS = 1_000;

interface Row {
  seq: string;
  kind: string;
  body: string | null;
  seconds: number | null;
}

/**
 * Reads each row that is appended after the first call once, in pages, without an index on its time. A transaction with a lower seq may
 * commit later: seqs that a page left out are looked for again for a minute.
 */
export class LedgerTail {
  /** Rows up to this seq were read, except for `#gaps`; null before the first call. */
  #high: number | null = null;
  /** Seqs without a row, with the time until which they are looked for. */
  #gaps = new Map<number, number>();

  constructor(private readonly options: TailOptions) {}

  /** Rows of the wanted kinds. `more`: there was a full page, so call again now. The first call only finds the end of the ledger. */
  async next(): Promise<{ readonly rows: readonly TailedRow[]; readonly more: boolean }> {
    const { db, kinds, now } = this.options;
    if (this.#high === null) {
      const { rows } = await db.query<{ high: string }>('select coalesce(max(seq), 0)::text as high from ledger');
      this.#high = Number(rows[0]?.high ?? 0);
      return { rows: [], more: false };
    }
    const { rows } = await db.query<Row>(
      `select p.seq::text as seq, p.kind,
              case when p.kind = any($3) and length(p.body) <= ${MAX_BODY_CHARS} then p.body end as body,
              case when p.kind = any($3) then extract(epoch from p.at::timestamptz - (select d.at::timestamptz from ledger d
                where d.change_id = p.change_id and d.fact_key = 'disclosed/disclosed'))::float8 end as seconds
       from (select * from ledger where seq = any($2::bigint[])
             union all (select * from ledger where seq > $1 order by seq limit ${PAGE_ROWS})) p order by p.seq`,
      [this.#high, [...this.#gaps.keys()], kinds],
    );
    const page = rows.filter((row) => Number(row.seq) > (this.#high ?? 0)).length;
    this.#advance(
      rows.map((row) => Number(row.seq)),
      now(),
    );
    const wanted = rows.filter((row) => kinds.some((kind) => kind === row.kind));
    return { rows: wanted.map(toTailed), more: page === PAGE_ROWS };
  }

  #advance(seqs: readonly number[], now: number): void {
    const read = new Set(seqs);
    const before = this.#high ?? 0;
    const high = Math.max(before, ...seqs);
    const gaps = [...this.#gaps].filter(([seq, until]) => !read.has(seq) && until > now);
    // After a jump of the sequence only the newest gaps are looked for.
    for (let seq = Math.max(before + 1, high - MAX_GAPS); seq < high; seq++)
      if (!read.has(seq)) gaps.push([seq, now + GAP_MS]);
    this.#gaps = new Map(gaps.slice(-MAX_GAPS));
    this.#high = high;
  }
}

function toTailed({ kind, body, seconds }: Row): TailedRow {
  return { kind: LedgerKind.parse(kind), body, secondsSinceDisclosed: seconds };
}
