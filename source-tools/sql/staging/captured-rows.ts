import type { Row } from './driver-client';
import type { SqlSettings } from '../staging-settings';
import { rowText } from './row-text';
import { countRows, type Counts } from './statistics';

export const MAX_CAPTURED_BYTES = 64 * 1024 * 1024;

export interface CapturedRow {
  readonly work: number;
  /** Table oids. Null if there is no old or no new row. */
  readonly oldTable: string | null;
  readonly newTable: string | null;
  /** JSON object of columns, see row-text.ts. */
  readonly before: string | null;
  readonly after: string | null;
}

export interface Relation {
  readonly label: string;
  readonly schema: string;
  /** Columns of the primary key in key order, or null if there is none. */
  readonly key: readonly string[] | null;
  /** Set for a foreign table. */
  readonly isForeign?: true;
}

export interface CapturedRows {
  readonly rows: readonly CapturedRow[];
  /** By table oid. */
  readonly relations: ReadonlyMap<string, Relation>;
}

/** The last four columns of the result: oid of the table before and after, row before and after. Null if a row has other columns. */
export function toCapturedRow(work: number, row: Row, columns: readonly string[]): CapturedRow | null {
  const [oldTable = null, newTable = null, old = null, now = null] = row.slice(-4);
  const [before, after] = [rowText(old, columns), rowText(now, columns)];
  if ((before === null) !== (old === null) || (after === null) !== (now === null)) return null;
  return { work, oldTable, newTable, before, after };
}

/** Counts every row, and keeps those within the limits. The tables of rows that are not kept are added to `incomplete`. */
export class RowBuffer {
  readonly rows: CapturedRow[] = [];
  readonly captured = new Map<string, Counts>();
  overflow = false;
  #bytes = 0;

  constructor(
    readonly settings: Pick<SqlSettings, 'maxCapturedRows'>,
    readonly incomplete: Set<string>,
  ) {}

  /** Rows that are counted together: a row that is gone and a row that is new in the same table are one update. */
  add(rows: readonly CapturedRow[]): void {
    countRows(this.captured, rows);
    for (const row of rows) {
      this.#bytes += (row.before?.length ?? 0) + (row.after?.length ?? 0);
      if (this.rows.length < this.settings.maxCapturedRows && this.#bytes <= MAX_CAPTURED_BYTES) {
        this.rows.push(row);
        continue;
      }
      this.overflow = true;
      for (const oid of [row.oldTable, row.newTable]) if (oid !== null) this.incomplete.add(oid);
    }
  }
}
