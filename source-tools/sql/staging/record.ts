/**
 * From what was captured to the staging record, and from two records to what differs. Pure.
 *
 * B1 The record says whatever it could not capture (`uncaptured`): a finding `base_unverifiable` is made from it.
 * B2 At commit nothing may differ from the approved record, and nothing may be uncaptured that was not said before.
 */
import type { JsonValue } from '../../../policy/contracts/canonical-json';
import { canonicalJson } from '../../../policy/contracts/canonical-json';
import type { StagingRecord } from '../../../policy/contracts/staging-record';
import { MAX_CAPTURED_BYTES, type Capture } from './capture';
import type { Counts } from './statistics';
import type { SqlSettings } from './settings';
import { compareRuns, netChanges, touchedSha } from './touched';
import { clip } from '../../../policy/text/cut-text';

/** What two dry runs said of each table, by label. A table that is not in it is stable and has no volatile column. */
export interface Judgement {
  readonly volatile: ReadonlyMap<string, readonly string[]>;
  readonly unstable: ReadonlySet<string>;
}

const MAX_VOLATILE = 200;
const NONE: Counts = { inserted: 0, updated: 0, deleted: 0 };

/** Whether the two runs agree, and what they say; where they do not, one more run tells a moving base from a moving change. */
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
  return { agree: unstable.size === 0 && sameCounts, judgement: { volatile, unstable } };
}

/** The judgement that the approved record carries: at commit there is one run only. */
export function judgementOf(approved: StagingRecord): Judgement {
  return {
    volatile: new Map(approved.tables.map((t) => [t.table, t.volatileColumns])),
    unstable: new Set(approved.tables.filter((t) => t.touchedSha === null).map((t) => t.table)),
  };
}

export interface RecordFacts {
  readonly sourceTool: string;
  readonly target: string;
  readonly settings: SqlSettings;
  /** Reasons that only comparing two runs can give. */
  readonly moreReasons?: readonly string[];
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
    const beyond = atLeastZero(rest);
    // What a view, a rule or an older server hid is the statement's own doing; the rest came from triggers, cascades, functions.
    const own = incomplete ? plus(captured, beyond) : captured;
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
        reasons.push(`${label} has no primary key: its rows are told apart only by their whole content`);
      if (judgement.unstable.has(label) && !incomplete)
        reasons.push(`${label}: two dry runs did not touch the same rows in the same way`);
    }
    if (!incomplete && sum(beyond) > 0) {
      sideEffects.push({ table: label, ...beyond });
      reasons.push(
        `${label}: ${words(beyond)} by a trigger, cascade, function or nested statement; counted, not captured`,
      );
    }
  }
  if (catalog.size > 0) reasons.push(`the system catalogue changes (${[...catalog].sort().join(', ')})`);
  if (capture.overflow)
    reasons.push(
      `more than ${facts.settings.maxCapturedRows} rows or ${MAX_CAPTURED_BYTES / 1024 / 1024} MiB: the rest was counted, not captured`,
    );
  const uncaptured = bounded([...reasons, ...(facts.moreReasons ?? [])]);
  return {
    sourceTool: facts.sourceTool,
    target: facts.target,
    origin: 'measured',
    statements: [...capture.statements],
    tables: tables.sort(byTable),
    sideEffects: sideEffects.sort(byTable),
    fullyCaptured: uncaptured.length === 0,
    uncaptured,
    base: { adapter: 'sql/1', session: { ...capture.session } },
    serverVersion: capture.serverVersion,
  };
}

/** What the commit would do otherwise than was approved, in words; null where nothing differs. The server's version may. */
export function differenceOf(approved: StagingRecord, now: StagingRecord): string | null {
  const differs = (a: unknown, b: unknown): boolean => canonicalJson(a) !== canonicalJson(b);
  if (differs(approved.base, now.base)) return `the session differs: ${changedMembers(approved.base, now.base)}`;
  for (const [i, before] of approved.statements.entries()) {
    const after = now.statements[i];
    if (after !== undefined && before.sha === after.sha && before.rowCount !== after.rowCount)
      return `statement ${i + 1} touches ${after.rowCount} rows, approved were ${before.rowCount}`;
  }
  if (differs(approved.statements, now.statements)) return 'the statements differ';
  for (const label of labels(approved.tables, now.tables)) {
    const before = approved.tables.find((t) => t.table === label);
    const after = now.tables.find((t) => t.table === label);
    if (before === undefined || after === undefined)
      return `${label} is ${before === undefined ? 'touched now' : 'no longer touched'}`;
    if (differs(counts(before), counts(after))) return `${label}: ${words(after)}, approved were ${words(before)}`;
    if (differs(before.touchedSha, after.touchedSha))
      return `${label}: the rows are not those that were approved, before or after the change`;
    if (differs(before, after)) return `${label}: its key or volatile columns differ`;
  }
  for (const label of labels(approved.sideEffects, now.sideEffects)) {
    const before = approved.sideEffects.find((t) => t.table === label);
    const after = now.sideEffects.find((t) => t.table === label);
    if (differs(before ?? null, after ?? null))
      return `${label}: side effects are ${words(after ?? NONE)}, approved were ${words(before ?? NONE)}`;
  }
  const unsaid = now.uncaptured.find((reason) => !approved.uncaptured.includes(reason));
  if (unsaid !== undefined) return `not captured now, and not said before: ${unsaid}`;
  return differs({ ...approved, ...VARIES }, { ...now, ...VARIES }) ? 'the record differs' : null;
}

/** Members that the checks before have covered, or that may differ. */
const VARIES = { serverVersion: '', uncaptured: [], fullyCaptured: true };

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

function minus(a: Counts, b: Counts): Counts {
  return { inserted: a.inserted - b.inserted, updated: a.updated - b.updated, deleted: a.deleted - b.deleted };
}

function plus(a: Counts, b: Counts): Counts {
  return { inserted: a.inserted + b.inserted, updated: a.updated + b.updated, deleted: a.deleted + b.deleted };
}

function atLeastZero(c: Counts): Counts {
  return { inserted: Math.max(0, c.inserted), updated: Math.max(0, c.updated), deleted: Math.max(0, c.deleted) };
}

function sum(c: Counts): number {
  return c.inserted + c.updated + c.deleted;
}

function byTable(a: { readonly table: string }, b: { readonly table: string }): number {
  return a.table < b.table ? -1 : 1;
}
