import type { JsonObject, JsonValue } from '../../../policy/contracts/canonical-json';
import type { StagingRecord } from '../../../policy/contracts/staging-record';
import { clip } from '../../../policy/text/cut-text';
import type { Capture } from './capture';
import { compareKeys, sortKey, type PreviewRow } from './preview-order';
import { columnsOf } from './row-text';
import { netChanges, type NetChange } from './touched';

const MAX_ROWS = 20;
const MAX_TABLES = 20;
const MAX_CELL = 300;
/** Characters shown before the first difference of two long values. */
const CONTEXT = 40;

/**
 * Rows before and after, for display: at most 20, with long values cut. A new value that is not compared at commit is not shown,
 * because the commit may write another one. Contains data of the target, so it must not enter the workflow history.
 * Deterministic: equal rehearsals have equal previews.
 */
export function previewOf(capture: Capture, notCompared: StagingRecord['notCompared']): JsonObject {
  const all = [...netChanges(capture)]
    // A row that the change inserts and deletes again is not a row before or after it.
    .map(([table, changes]) => [table, changes.filter((c) => c.before !== null || c.after !== null)] as const)
    .filter(([, changes]) => changes.length > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const keys = new Map([...capture.relations.values()].map(({ label, key }) => [label, key]));
  const each = Math.max(1, Math.floor(MAX_ROWS / Math.max(1, all.length)));
  const tables = all.slice(0, MAX_TABLES).map(([table, changes]) => {
    const hidden = new Map(notCompared.filter((c) => c.table === table).map(({ column, why }) => [column, why]));
    const rows = changes
      .map((change) => rowOf(change, hidden))
      .map((row) => ({ row, sortKey: sortKey(row, keys.get(table) ?? []) }))
      .sort((a, b) => compareKeys(a.sortKey, b.sortKey))
      .slice(0, each)
      .map(({ row }) => row);
    return { table, total: changes.length, rows };
  });
  return { tables, moreTables: Math.max(0, all.length - MAX_TABLES) };
}

/** `hidden`: why a column is not compared. Its new values must not have an influence on what is shown of its old ones. */
function rowOf({ before, after }: NetChange, hidden: ReadonlyMap<string, string>): PreviewRow {
  const [old, now] = [before, after].map((row) => (row === null ? null : columnsOf(row))) as [Columns, Columns];
  const shown = (row: Columns, other: Columns): JsonObject | null =>
    row &&
    // fromEntries instead of assignments, because a column may be named __proto__.
    Object.fromEntries(
      [...row].map(([name, value]) => [name, cell(value, hidden.has(name) ? null : (other?.get(name) ?? null))]),
    );
  const masked = (name: string, value: JsonValue): JsonValue =>
    hidden.has(name) ? { notCompared: hidden.get(name) ?? '' } : value;
  const written = shown(now, old);
  return {
    before: shown(old, now),
    after: written && Object.fromEntries(Object.entries(written).map(([name, value]) => [name, masked(name, value)])),
  };
}

type Columns = ReadonlyMap<string, string | null> | null;

/** `other`: the value on the other side. A long value is cut so that two different values look different. */
function cell(value: string | null, other: string | null): string | null {
  if (value === null || value.length <= MAX_CELL) return value;
  const start = firstShown(value, other);
  return `${start > 0 ? '…' : ''}${clip(value.slice(start), MAX_CELL)} (${value.length} characters)`;
}

function firstShown(value: string, other: string | null): number {
  if (other === null || other === value) return 0;
  let same = 0;
  while (value.charCodeAt(same) === other.charCodeAt(same)) same++;
  // At least MAX_CELL characters are left, so that the result is never the text of a short value.
  const start = Math.max(0, Math.min(same - CONTEXT, value.length - MAX_CELL));
  const splitsPair = start > 0 && (value.charCodeAt(start) & 0xfc00) === 0xdc00;
  return splitsPair ? start - 1 : start;
}
