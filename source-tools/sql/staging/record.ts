/**
 * Makes the staging record from a capture, and compares two records. Pure.
 *
 * B1 The record lists what could not be captured (`uncaptured`), which gives the finding `base_unverifiable`.
 * B2 At commit the record must equal the approved one, and `uncaptured` must not contain a new reason.
 */
import { canonicalJson, type JsonValue } from '../../../policy/contracts/canonical-json';
import type { StagingRecord } from '../../../policy/contracts/staging-record';
import type { Capture } from './capture';
import { MAX_CAPTURED_BYTES } from './captured-rows';
import { minus, NONE, sum, type Counts } from './statistics';
import type { WrittenColumns } from './assigned-columns';
import type { SqlSettings } from '../staging-settings';
import type { Work } from './work';
import { columnsOf } from './row-text';
import { compareRuns, netChanges, touchedSha, type NetChange } from './touched';
import { clip } from '../../../policy/text/cut-text';

/** Result of comparing two dry runs, by table label. A table that is not listed is stable and has no volatile column. */
export interface Judgement {
  readonly volatile: ReadonlyMap<string, readonly string[]>;
  readonly unstable: ReadonlySet<string>;
  /** Why the volatile columns are not compared. */
  readonly notCompared: StagingRecord['notCompared'];
  /** Why a person must answer although everything was captured. */
  readonly reasons: readonly string[];
}

export const NOTHING: Judgement = { volatile: new Map(), unstable: new Set(), notCompared: [], reasons: [] };

const MAX_VOLATILE = 200;

/** Compares two runs. If they do not agree, one more run shows whether other sessions changed the data or the change itself is unstable. */
export function judgeRuns(first: Capture, second: Capture): { readonly agree: boolean; readonly judgement: Judgement } {
  const [a, b] = [netChanges(first), netChanges(second)];
  const volatile = new Map<string, readonly string[]>();
  const unstable = new Set<string>();
  for (const label of new Set([...a.keys(), ...b.keys()])) {
    const comparison = compareRuns(a.get(label) ?? [], b.get(label) ?? []);
    if (comparison.kind === 'moved' || comparison.volatile.length > MAX_VOLATILE) unstable.add(label);
    else volatile.set(label, comparison.volatile);
  }
  const sameCounts =
    canonicalJson(countsOf(first)) === canonicalJson(countsOf(second)) &&
    canonicalJson(first.statements) === canonicalJson(second.statements);
  return { agree: unstable.size === 0 && sameCounts, judgement: { ...NOTHING, volatile, unstable } };
}

/** Judgement stored in the approved record. The commit runs only once, so it cannot compare runs. */
export function judgementOf(approved: StagingRecord): Judgement {
  return {
    volatile: new Map(approved.tables.map((t) => [t.table, t.volatileColumns])),
    unstable: new Set(approved.tables.filter((t) => t.touchedSha === null).map((t) => t.table)),
    notCompared: approved.notCompared,
    reasons: [],
  };
}

const WHY = {
  own: 'the default of the column gives each row another value',
  uuid: 'the statement gives each new row a random UUID',
  clock: 'the time of the commit, in a column that the target declares volatile',
  other: 'the value differs between two dry runs',
};

const DECLARE = '; if the column keeps the time of a change, declare it in volatileColumns of the target';

/**
 * Decides which columns may differ at commit without a question: those with their own default, those that get a random UUID in a new
 * row, and a bare clock in a column that the target declares volatile. Every other column that differs between two rehearsals needs a person.
 */
export function explainVolatile(
  judgement: Judgement,
  capture: Capture,
  columns: WrittenColumns,
  declared: readonly string[],
): Judgement {
  const volatile = new Map<string, readonly string[]>();
  const notCompared: StagingRecord['notCompared'] = [];
  const reasons: string[] = [];
  for (const [oid, { label }] of capture.relations) {
    const written = columns.get(oid);
    const differing = judgement.volatile.get(label) ?? [];
    const isClock = (column: string): boolean =>
      written?.assigned.get(column) === 'clock' &&
      [label, ...written.named].some((table) => declared.includes(`${table}.${column}`));
    const clocks = [...(written?.assigned.keys() ?? [])].filter(isClock);
    const names = [...new Set([...differing, ...clocks])].sort();
    for (const column of names) {
      const assigned = written?.assigned.get(column) ?? 'other';
      const isKnown = assigned === 'uuid' ? hasUuids(netChanges(capture).get(label) ?? [], column) : assigned === 'own';
      const why = isClock(column) ? 'clock' : isKnown ? assigned : 'other';
      notCompared.push({ table: label, column: clip(column, 300), why: WHY[why] });
      if (why === 'other')
        reasons.push(
          `${label}.${column}: the value differs between two dry runs, so it is not compared at commit${assigned === 'clock' ? DECLARE : ''}`,
        );
    }
    if (names.length > 0) volatile.set(label, names);
  }
  notCompared.sort((a, b) => (`${a.table}.${a.column}` < `${b.table}.${b.column}` ? -1 : 1));
  return { ...judgement, volatile, notCompared, reasons };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether there are new rows and each has a UUID: the type of the column or a cast of the target can change what the statement gives it. */
function hasUuids(changes: readonly NetChange[], column: string): boolean {
  const added = changes.flatMap(({ before, after }) => (before === null && after !== null ? [columnsOf(after)] : []));
  return added.length > 0 && added.every((row) => UUID.test(row.get(column) ?? ''));
}

export interface RecordFacts {
  readonly sourceTool: string;
  readonly target: string;
  readonly settings: SqlSettings;
}

export function toRecord(capture: Capture, judgement: Judgement, facts: RecordFacts): StagingRecord {
  const changes = netChanges(capture);
  const tables: StagingRecord['tables'] = [];
  const sideEffects: StagingRecord['sideEffects'] = [];
  const catalog = new Set<string>();
  const reasons = [...capture.reasons];
  const relations = [...capture.relations].sort(([, a], [, b]) => (a.label < b.label ? -1 : 1));
  for (const [oid, relation] of relations) {
    const label = relation.label;
    if (relation.schema === 'pg_catalog') {
      catalog.add(label.slice('pg_catalog.'.length));
      continue;
    }
    const captured = capture.captured.get(oid) ?? NONE;
    const rest = minus(capture.counted.get(oid) ?? NONE, captured);
    const incomplete = capture.incomplete.has(oid);
    if (rest.inserted < 0 || rest.updated < 0 || rest.deleted < 0) {
      reasons.push(`${label}: the server counted fewer rows than were captured`);
    }
    const uncounted = atLeastZero(rest);
    // If rows could not be captured (a view, a rule, an older server), all rows count for the statement. Otherwise the rest is from
    // triggers, cascades and functions.
    const own = incomplete ? plus(captured, uncounted) : captured;
    if (sum(own) > 0) {
      const hidden = incomplete || judgement.unstable.has(label);
      const volatile = [...(judgement.volatile.get(label) ?? [])];
      tables.push({
        table: label,
        ...own,
        touchedSha: hidden ? null : touchedSha(changes.get(label) ?? [], volatile),
        keyed: relation.key !== null,
        volatileColumns: volatile,
      });
      if (relation.key === null && own.updated + own.deleted > 0)
        reasons.push(`${label} has no primary key: its rows are identified only by their full content`);
      if (judgement.unstable.has(label) && !incomplete)
        reasons.push(`${label}: two dry runs did not change the same rows in the same way`);
    }
    if (!incomplete && sum(uncounted) > 0) {
      sideEffects.push({ table: label, ...uncounted });
      reasons.push(
        `${label}: ${words(uncounted)} by a trigger, cascade, function or nested statement; counted but not captured`,
      );
    }
  }
  if (catalog.size > 0) reasons.push(`the system catalog changes (${[...catalog].sort().join(', ')})`);
  if (capture.overflow)
    reasons.push(
      `more than ${facts.settings.maxCapturedRows} rows or ${MAX_CAPTURED_BYTES / 1024 / 1024} MiB: the rest was counted but not captured`,
    );
  const uncaptured = bounded([...reasons, ...judgement.reasons]);
  return {
    sourceTool: facts.sourceTool,
    target: facts.target,
    origin: 'measured',
    statements: [...capture.statements],
    tables: tables.sort(byTable),
    sideEffects: sideEffects.sort(byTable),
    fullyCaptured: uncaptured.length === 0,
    uncaptured,
    reason: null,
    notCompared: [...judgement.notCompared],
    previewSha: null,
    base: { adapter: 'sql/1', session: { ...capture.session } },
    serverVersion: capture.serverVersion,
  };
}

/** Record of a change of which nothing was executed. */
export function notRehearsed(works: readonly Work[], reasons: readonly string[], facts: RecordFacts): StagingRecord {
  return {
    sourceTool: facts.sourceTool,
    target: facts.target,
    origin: 'measured',
    statements: works.map(({ sha, command }) => ({ sha, command, rowCount: 0 })),
    tables: [],
    sideEffects: [],
    fullyCaptured: false,
    uncaptured: bounded(reasons),
    reason: 'not_rehearsed',
    notCompared: [],
    previewSha: null,
    base: { adapter: 'sql/1' },
    serverVersion: '',
  };
}

/** First difference between the approved record and the one of the commit, as text. Null if there is none. The server version may differ. */
export function differenceOf(approved: StagingRecord, now: StagingRecord): string | null {
  const differs = (a: unknown, b: unknown): boolean => canonicalJson(a) !== canonicalJson(b);
  if (approved.reason === 'not_rehearsed') {
    const texts = ({ statements }: StagingRecord) => statements.map(({ sha, command }) => ({ sha, command }));
    return differs(texts(approved), texts(now)) ? 'the statements differ' : null;
  }
  if (differs(approved.base, now.base)) return `the session differs: ${changedMembers(approved.base, now.base)}`;
  for (const [i, before] of approved.statements.entries()) {
    const after = now.statements[i];
    if (after !== undefined && before.sha === after.sha && before.rowCount !== after.rowCount)
      return `statement ${i + 1} changes ${after.rowCount} rows, but ${before.rowCount} were approved`;
  }
  if (differs(approved.statements, now.statements)) return 'the statements differ';
  for (const label of labels(approved.tables, now.tables)) {
    const before = approved.tables.find((t) => t.table === label);
    const after = now.tables.find((t) => t.table === label);
    if (before === undefined || after === undefined)
      return `${label} is ${before === undefined ? 'changed, but was not approved' : 'no longer changed'}`;
    if (differs(counts(before), counts(after))) return `${label}: ${words(after)}, but approved was ${words(before)}`;
    if (differs(before.touchedSha, after.touchedSha))
      return `${label}: the rows before or after the change differ from the approved ones`;
    if (differs(before, after)) return `${label}: its key or volatile columns differ`;
  }
  for (const label of labels(approved.sideEffects, now.sideEffects)) {
    const before = approved.sideEffects.find((t) => t.table === label);
    const after = now.sideEffects.find((t) => t.table === label);
    if (differs(before ?? null, after ?? null))
      return `${label}: side effects are ${words(after ?? NONE)}, but approved was ${words(before ?? NONE)}`;
  }
  const newReason = now.uncaptured.find((reason) => !approved.uncaptured.includes(reason));
  if (newReason !== undefined) return `not captured at commit, and not in the approved record: ${newReason}`;
  return differs({ ...approved, ...IGNORED }, { ...now, ...IGNORED }) ? 'the record differs' : null;
}

/** Members that were already compared or may differ. */
const IGNORED = { serverVersion: '', uncaptured: [], fullyCaptured: true, previewSha: null };

function countsOf(capture: Capture): JsonValue {
  const entries = [...capture.counted].map(
    ([oid, c]) => [capture.relations.get(oid)?.label ?? oid, c.inserted, c.updated, c.deleted] as const,
  );
  return entries.sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

function changedMembers(a: StagingRecord['base'], b: StagingRecord['base']): string {
  const of = (base: StagingRecord['base']) => (base['session'] ?? {}) as Record<string, unknown>;
  const [before, after] = [of(a), of(b)];
  const names = Object.keys({ ...before, ...after }).filter((n) => before[n] !== after[n]);
  return names.map((n) => `${n} is ${String(after[n])}, was ${String(before[n])}`).join('; ') || 'another adapter';
}

function labels(...lists: readonly (readonly { readonly table: string }[])[]): string[] {
  return [...new Set(lists.flat().map((t) => t.table))].sort();
}

function bounded(reasons: readonly string[]): string[] {
  const unique = [...new Set(reasons)].map((r) => clip(r, 500));
  return unique.length <= 100 ? unique : [...unique.slice(0, 99), `and ${unique.length - 99} more reasons`];
}

function counts({ inserted, updated, deleted }: Counts): Counts {
  return { inserted, updated, deleted };
}

function words({ inserted, updated, deleted }: Counts): string {
  const parts = [
    [inserted, 'inserted'],
    [updated, 'updated'],
    [deleted, 'deleted'],
  ] as const;
  return (
    parts
      .filter(([n]) => n > 0)
      .map(([n, word]) => `${n} ${word}`)
      .join(', ') || 'nothing'
  );
}

function plus(a: Counts, b: Counts): Counts {
  return { inserted: a.inserted + b.inserted, updated: a.updated + b.updated, deleted: a.deleted + b.deleted };
}

function atLeastZero(c: Counts): Counts {
  return { inserted: Math.max(0, c.inserted), updated: Math.max(0, c.updated), deleted: Math.max(0, c.deleted) };
}

function byTable(a: { readonly table: string }, b: { readonly table: string }): number {
  return a.table < b.table ? -1 : 1;
}
