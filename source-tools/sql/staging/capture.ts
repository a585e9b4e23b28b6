/**
 * Runs the work of a change in an open transaction and records its effect: rows with RETURNING (before PostgreSQL 18 old rows of an
 * UPDATE with a query before it), and counts of all rows with the transaction's statistics.
 *
 * C1 Statistics are differences within this transaction, read after deferred triggers have run (SET CONSTRAINTS ALL IMMEDIATE).
 *    So the record includes what COMMIT would trigger.
 * C2 Rows beyond the limit are counted but not kept.
 * C3 The dry run and the commit run the same code. It never depends on which of the two it is, except that a guard may end a dry run
 *    before the next statement.
 */
import type { SqlSettings } from '../staging-settings';
import type { Row } from './driver-client';
import type { Session } from './session';
import { GENERIC_PLANS } from './transaction-start';
import { relationLabel } from './identifiers';
import { RELATIONS } from './catalog-queries';
import { RowBuffer, toCapturedRow, type CapturedRow, type Relation } from './captured-rows';
import { chooseText, type Choice } from './choose-text';
import { OWN_SCHEMA } from './marker';
import { BoundedRows, changedSince, joinRows, readOldRows, type NewRow } from './old-rows';
import type { Work } from './work';
import { difference, readState, type Counts, type State } from './statistics';

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
  /** A row to compare and set was found `found` times instead of once. */
  | { readonly kind: 'missed'; readonly found: number; readonly explanation: string }
  /** The server returned an error; `error` is the driver's. */
  | { readonly kind: 'failed'; readonly place: string; readonly error: unknown }
  /** Our own code does not let the change run, or it took too long. Not related to the rollback reason of this name. */
  | { readonly kind: 'declined'; readonly explanation: string }
  /** Not executed, or rolled back: a rehearsal must not do this. */
  | { readonly kind: 'not_rehearsed'; readonly works: readonly Work[]; readonly reasons: readonly string[] };

/** Called before each statement with the number of rows changed so far. Returns why the dry run must end here, or null. */
export type Guard = (work: Work, rowsSoFar: number) => Promise<string | null>;

export type NotCaptured = Exclude<Captured, { readonly kind: 'captured' }>;

interface CaptureOptions {
  /** True if gate.ts found the works fit for a rehearsal, so that their conditions have no effect and may be evaluated again. */
  readonly checked: boolean;
  readonly guard?: Guard;
}

/** Rejects with the driver's error only if one of Countersign's own queries fails. */
export async function captureWork(
  session: Session,
  works: readonly Work[],
  settings: SqlSettings,
  { checked, guard }: CaptureOptions,
): Promise<Captured> {
  const statements: { sha: string; command: string; rowCount: number }[] = [];
  const incomplete = new Set<string>();
  const reasons: string[] = [];
  const kept = new RowBuffer(settings, incomplete);

  const known = new Map<string, Row | undefined>();
  const before = await readState(session, session.planCacheMode);

  for (const [index, work] of works.entries()) {
    let choice: Choice;
    let result: Executed;
    try {
      const stop = (await guard?.(work, total(statements))) ?? null;
      if (stop !== null) return { kind: 'not_rehearsed', works, reasons: [stop] };
      choice = await chooseText(session, work, known, checked);
      if ('declined' in choice) return { kind: 'declined', explanation: choice.declined };
      result = await execute(session, { index, work, choice, settings, kept });
    } catch (error) {
      // A schema without USAGE for the role fails here already. The statement itself would fail with the same error.
      return { kind: 'failed', place: work.place, error };
    }
    if (choice.wider.some((oid) => incomplete.has(oid)))
      reasons.push(`${work.place} changes rows of a table that inherits from ${work.target} and has more columns`);
    if (!result.captured) for (const oid of choice.family) incomplete.add(oid);
    if (choice.reason !== null) reasons.push(choice.reason);
    if (work.uncapturable !== null) reasons.push(`${work.place} ${work.uncapturable}`);
    if (work.exactlyOne && result.rowCount !== 1) return missed(work, result.rowCount);
    if (result.reason !== null) reasons.push(`${work.place}: ${result.reason}`);
    // Any command other than INSERT, UPDATE, DELETE and MERGE may have created or dropped a table.
    if (work.target === null) known.clear();
    statements.push({ sha: work.sha, command: work.command, rowCount: work.target === null ? 0 : result.rowCount });
  }

  const failure = await runDeferred(session);
  if (failure !== null) return failure;
  return summarize(session, { before, statements, incomplete, reasons, kept });
}

interface Executed {
  readonly rowCount: number;
  readonly captured: boolean;
  /** Why the rows were not captured, if that was not known before the statement ran. */
  readonly reason: string | null;
}

interface Step {
  readonly index: number;
  readonly work: Work;
  readonly choice: Exclude<Choice, { readonly declined: string }>;
  readonly settings: SqlSettings;
  readonly kept: RowBuffer;
}

/** Runs one statement and keeps its rows. Rejects with the driver's error. */
async function execute(session: Session, step: Step): Promise<Executed> {
  const { index, work, choice } = step;
  if (choice.oldRows !== null) return executeWithOldRows(session, step, choice.oldRows);
  let seen = 0;
  const onRow = (row: Row): void => {
    const captured = toCapturedRow(index, row, columns);
    if (captured === null) return;
    seen++;
    keep(step, [captured]);
  };
  const { text, captures, columns } = choice;
  const { rowCount } = await session.run({ text, values: work.values, ...(captures ? { onRow } : {}) });
  return { rowCount, captured: captures, reason: captures ? unreturned(rowCount, seen) : null };
}

/** Reads and locks the rows that the statement will change, runs it, and keeps the rows if it changed exactly those. */
async function executeWithOldRows(session: Session, step: Step, oldRows: string): Promise<Executed> {
  const { index, work, choice, settings, kept } = step;
  const { columns } = choice;
  const before = await readOldRows(session, { text: oldRows, values: work.values, columns }, settings.maxCapturedRows);
  const after = new BoundedRows<NewRow>(settings.maxCapturedRows);
  let seen = 0;
  const onRow = (row: Row): void => {
    const now = toCapturedRow(index, row, columns);
    if (now?.newTable == null || now.after === null) return;
    seen++;
    after.add({ table: now.newTable, row: now.after });
  };
  const { rowCount } = await session.run({ text: choice.text, values: work.values, onRow });
  const failed = unreturned(rowCount, seen);
  if (failed !== null) return { rowCount, captured: false, reason: failed };
  if (before.overflow || after.overflow) {
    kept.overflow = true;
    return { rowCount, captured: false, reason: null };
  }
  const changed = await changedSince(session, work.target ?? '', before.rows);
  if (changed.length !== rowCount) {
    const reason =
      'the rows that it changed are not those that its condition selected before; the condition selects other rows each time, or another session changed them';
    return { rowCount, captured: false, reason };
  }
  const tables = new Set([...changed, ...after.rows].map(({ table }) => table));
  keep(step, joinRows(index, changed, after.rows, await relationsOf(session, [...tables])));
  return { rowCount, captured: true, reason: null };
}

/** Rows of a child with further columns are kept as rows of the target, so they are incomplete. */
function keep({ choice, kept }: Step, rows: readonly CapturedRow[]): void {
  kept.add(rows);
  for (const oid of rows.flatMap((row) => [row.oldTable, row.newTable]))
    if (oid !== null && choice.wider.includes(oid)) kept.incomplete.add(oid);
}

function unreturned(rowCount: number, seen: number): string | null {
  return seen === rowCount
    ? null
    : `${rowCount} rows changed, but ${seen} could be read: the others are longer than 64 MiB, or the table has other columns now`;
}

/** Reads what the statements of this transaction changed in total. */
async function summarize(
  session: Session,
  of: {
    readonly before: State;
    readonly statements: Capture['statements'];
    readonly incomplete: ReadonlySet<string>;
    readonly reasons: string[];
    readonly kept: RowBuffer;
  },
): Promise<Captured> {
  const { before, statements, incomplete, reasons, kept } = of;
  const { facts } = before;
  const after = await readState(session, GENERIC_PLANS);
  const counted = difference(before.counts, after.counts);
  if (after.facts[0] !== facts[0] || after.facts[1] !== facts[1]) {
    // S1 in session.ts makes this unreachable. If it happened, no result of this transaction could be trusted.
    return { kind: 'declined', explanation: 'the change left its transaction or changed its role' };
  }
  if (facts[2] !== 'on') reasons.push('track_counts is off on the server: side effects cannot be counted');
  const oids = [...new Set([...kept.captured.keys(), ...counted.keys(), ...incomplete])];
  const relations = await relationsOf(session, oids);
  if ([...counted.keys()].some((oid) => relations.get(oid)?.schema === OWN_SCHEMA))
    return {
      kind: 'declined',
      explanation: 'the change writes to a table that belongs to Countersign, which is not allowed',
    };
  const foreign = [...kept.captured.keys()].map((oid) => relations.get(oid)).find((relation) => relation?.isForeign);
  if (foreign !== undefined)
    return {
      kind: 'declined',
      explanation: `the change writes to ${foreign.label}, a foreign table, whose rows are outside this database`,
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
      overflow: kept.overflow,
      reasons,
      session: sessionFacts(facts),
      serverVersion: `PostgreSQL ${session.version}`,
    },
  };
}

function total(statements: readonly { readonly rowCount: number }[]): number {
  return statements.reduce((sum, { rowCount }) => sum + rowCount, 0);
}

function missed({ place, command }: Work, found: number): NotCaptured {
  const explanation =
    command === 'INSERT'
      ? 'expected no row with this key, found one'
      : `expected exactly one row with this key and the expected values, found ${found}`;
  return { kind: 'missed', found, explanation: `${place}: ${explanation}` };
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

async function relationsOf(session: Session, oids: readonly string[]): Promise<Map<string, Relation>> {
  if (oids.length === 0) return new Map();
  const found = await session.own(RELATIONS, [`{${oids.join(',')}}`]);
  return new Map(
    found.map(([oid, schema, name, key, kind]) => [
      oid ?? '',
      {
        label: relationLabel(schema ?? '', name ?? ''),
        schema: schema ?? '',
        key: key === null || key === undefined ? null : (JSON.parse(key) as string[]),
        ...(kind === 'f' ? { isForeign: true } : {}),
      },
    ]),
  );
}

function sessionFacts(row: Row): Record<string, string> {
  const values = row.slice(FIRST_SETTING);
  return Object.fromEntries(SETTINGS.map((name, i) => [name, values[i] ?? '']));
}

/** The settings in STATE, after the start of the transaction, the roles and track_counts. */
const FIRST_SETTING = 3;
const SETTINGS = [
  'TimeZone',
  'DateStyle',
  'IntervalStyle',
  'bytea_output',
  'extra_float_digits',
  'schemas',
  'default_text_search_config',
  'lc_monetary',
  'lc_numeric',
  'lc_time',
];
