/**
 * Runs the work of a change in an open transaction and records its effect: rows with RETURNING, and counts of all rows with the
 * transaction's statistics.
 *
 * C1 Statistics are differences within this transaction, read after deferred triggers have run (SET CONSTRAINTS ALL IMMEDIATE).
 *    So the record includes what COMMIT would trigger.
 * C2 Rows beyond the limit are counted but not kept.
 * C3 The dry run and the commit run the same code. It never depends on which of the two it is, except that a guard may end a dry run
 *    before the next statement.
 */
import type { SqlSettings } from './settings';
import type { Row, Session } from './session';
import { relationLabel } from './identifiers';
import { RELATIONS, SESSION_FACTS } from './catalog-queries';
import { chooseText, type Choice } from './choose-text';
import { OWN_SCHEMA } from './marker';
import type { Work } from './work';
import { countRow, difference, statistics, type Counts } from './statistics';

export const MAX_CAPTURED_BYTES = 64 * 1024 * 1024;

export interface CapturedRow {
  readonly work: number;
  /** Table oids. Null if there is no old or no new row. */
  readonly oldTable: string | null;
  readonly newTable: string | null;
  /** `to_jsonb(row)::text` */
  readonly before: string | null;
  readonly after: string | null;
}

export interface Relation {
  readonly label: string;
  readonly schema: string;
  /** Columns of the primary key in key order, or null if there is none. */
  readonly key: readonly string[] | null;
}

export interface Capture {
  readonly statements: readonly { readonly sha: string; readonly command: string; readonly rowCount: number }[];
  readonly rows: readonly CapturedRow[];
  /** Row counts by table oid: `captured` from RETURNING, `counted` from statistics. */
  readonly captured: ReadonlyMap<string, Counts>;
  readonly counted: ReadonlyMap<string, Counts>;
  readonly relations: ReadonlyMap<string, Relation>;
  /** Oids of tables whose rows were not all kept or could not be captured. */
  readonly incomplete: ReadonlySet<string>;
  readonly overflow: boolean;
  readonly reasons: readonly string[];
  /** Settings that change the meaning of the SQL text or the format of rows: time zone, search path, … */
  readonly session: Readonly<Record<string, string>>;
  readonly serverVersion: string;
}

export type Captured =
  | { readonly kind: 'captured'; readonly capture: Capture }
  | { readonly kind: 'missed'; readonly explanation: string }
  /** The server returned an error; `error` is the driver's. */
  | { readonly kind: 'failed'; readonly place: string; readonly error: unknown }
  | { readonly kind: 'declined'; readonly explanation: string }
  /** Not executed, or rolled back at once: a rehearsal must not do this. */
  | { readonly kind: 'not_rehearsed'; readonly works: readonly Work[]; readonly reasons: readonly string[] };

/** Called before each statement with the number of rows changed so far. Returns why the dry run must end here, or null. */
export type Guard = (work: Work, rowsSoFar: number) => Promise<string | null>;

export type NotCaptured = Exclude<Captured, { readonly kind: 'captured' }>;

/** Rejects with the driver's error only if one of Countersign's own queries fails. */
export async function captureWork(
  session: Session,
  works: readonly Work[],
  settings: SqlSettings,
  heartbeat: () => void = () => {},
  guard: Guard | null = null,
): Promise<Captured> {
  const statements: { sha: string; command: string; rowCount: number }[] = [];
  const incomplete = new Set<string>();
  const reasons: string[] = [];
  const kept = createRowBuffer(settings, incomplete);

  const known = new Map<string, Row | undefined>();
  const before = await statistics(session);
  const [facts] = await session.rows(SESSION_FACTS);

  for (const [index, work] of works.entries()) {
    heartbeat();
    let choice: Choice;
    try {
      const stop = (await guard?.(work, total(statements))) ?? null;
      if (stop !== null) return { kind: 'not_rehearsed', works, reasons: [stop] };
      choice = await chooseText(session, work, known);
    } catch (error) {
      // A schema without USAGE for the role fails here already. The statement itself would fail with the same error.
      return { kind: 'failed', place: work.place, error };
    }
    if ('declined' in choice) return { kind: 'declined', explanation: choice.declined };
    for (const oid of choice.incomplete) incomplete.add(oid);
    if (choice.reason !== null) reasons.push(choice.reason);
    if (work.uncapturable !== null) reasons.push(`${work.place} ${work.uncapturable}`);
    let seen = 0;
    const onRow = (row: Row): void => {
      seen++;
      kept.add(toCapturedRow(index, row));
    };
    let result: { command: string; rowCount: number };
    try {
      result = await session.run({ text: choice.text, values: work.values, ...(choice.captures ? { onRow } : {}) });
    } catch (error) {
      return { kind: 'failed', place: work.place, error };
    }
    if (work.exactlyOne && result.rowCount !== 1) return missed(work, result.rowCount);
    if (choice.captures && seen !== result.rowCount)
      reasons.push(`${work.place}: ${result.rowCount} rows changed, ${seen} returned`);
    // Any command other than INSERT, UPDATE, DELETE and MERGE may have created or dropped a table.
    if (work.target === null) known.clear();
    statements.push({ sha: work.sha, command: work.command, rowCount: work.target === null ? 0 : result.rowCount });
  }

  const failure = await runDeferred(session);
  if (failure !== null) return failure;
  return summarize(session, { before, facts, statements, incomplete, reasons, kept });
}

/** Reads what the statements of this transaction changed in total. */
async function summarize(
  session: Session,
  of: {
    readonly before: Awaited<ReturnType<typeof statistics>>;
    readonly facts: Row | undefined;
    readonly statements: Capture['statements'];
    readonly incomplete: ReadonlySet<string>;
    readonly reasons: string[];
    readonly kept: ReturnType<typeof createRowBuffer>;
  },
): Promise<Captured> {
  const { before, facts, statements, incomplete, reasons, kept } = of;
  const counted = difference(before, await statistics(session));
  const [after] = await session.rows(SESSION_FACTS);
  if (after?.[0] !== facts?.[0] || after?.[1] !== facts?.[1]) {
    // Defence in depth: S1 in session.ts makes this unreachable. If it happened, no result of this transaction could be trusted.
    return { kind: 'declined', explanation: 'the change left its transaction or changed its role' };
  }
  if (facts?.[2] !== 'on') reasons.push('track_counts is off on the server: side effects cannot be counted');
  const oids = [...new Set([...kept.captured.keys(), ...counted.keys(), ...incomplete])];
  const relations = await relationsOf(session, oids);
  if ([...counted.keys()].some((oid) => relations.get(oid)?.schema === OWN_SCHEMA))
    return {
      kind: 'declined',
      explanation: 'the change writes to a table that belongs to Countersign, which is not allowed',
    };
  return {
    kind: 'captured',
    capture: {
      statements,
      rows: kept.rows,
      captured: kept.captured,
      counted,
      relations,
      incomplete,
      overflow: kept.overflowed(),
      reasons,
      session: sessionFacts(facts ?? []),
      serverVersion: `PostgreSQL ${session.version}`,
    },
  };
}

function total(statements: readonly { readonly rowCount: number }[]): number {
  return statements.reduce((sum, { rowCount }) => sum + rowCount, 0);
}

function missed({ place }: Work, found: number): NotCaptured {
  return {
    kind: 'missed',
    explanation: `${place}: expected exactly one row with this key and the expected values, found ${found}`,
  };
}

/** Runs deferred triggers and constraints now, so that statistics include them (C1). Null on success. */
async function runDeferred(session: Session): Promise<NotCaptured | null> {
  try {
    await session.run({ text: 'SET CONSTRAINTS ALL IMMEDIATE' });
    return null;
  } catch (error) {
    return { kind: 'failed', place: 'deferred constraints', error };
  }
}

/** Counts every row and keeps those within the limits (C2). */
function createRowBuffer(settings: SqlSettings, incomplete: Set<string>) {
  const rows: CapturedRow[] = [];
  const captured = new Map<string, { inserted: number; updated: number; deleted: number }>();
  let overflow = false;
  let bytes = 0;
  return {
    rows,
    captured,
    overflowed: () => overflow,
    add(row: CapturedRow): void {
      countRow(captured, row);
      bytes += (row.before?.length ?? 0) + (row.after?.length ?? 0);
      if (rows.length < settings.maxCapturedRows && bytes <= MAX_CAPTURED_BYTES) {
        rows.push(row);
        return;
      }
      overflow = true;
      for (const oid of [row.oldTable, row.newTable]) if (oid !== null) incomplete.add(oid);
    },
  };
}

function toCapturedRow(work: number, row: Row): CapturedRow {
  const [oldTable = null, newTable = null, before = null, after = null] = row.slice(-4);
  return { work, oldTable, newTable, before, after };
}

async function relationsOf(session: Session, oids: readonly string[]): Promise<Map<string, Relation>> {
  if (oids.length === 0) return new Map();
  const found = await session.rows(RELATIONS, [`{${oids.join(',')}}`]);
  return new Map(
    found.map(([oid, schema, name, key]) => [
      oid ?? '',
      {
        label: relationLabel(schema ?? '', name ?? ''),
        schema: schema ?? '',
        key: key === null || key === undefined ? null : (JSON.parse(key) as string[]),
      },
    ]),
  );
}

function sessionFacts(row: Row): Record<string, string> {
  const [, , , timeZone, dateStyle, intervalStyle, bytea, digits, schemas, textSearch, monetary, numeric, time] = row;
  return {
    TimeZone: timeZone ?? '',
    DateStyle: dateStyle ?? '',
    IntervalStyle: intervalStyle ?? '',
    bytea_output: bytea ?? '',
    extra_float_digits: digits ?? '',
    schemas: schemas ?? '',
    default_text_search_config: textSearch ?? '',
    lc_monetary: monetary ?? '',
    lc_numeric: numeric ?? '',
    lc_time: time ?? '',
  };
}
