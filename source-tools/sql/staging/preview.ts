import type { JsonObject, JsonValue } from '../../../policy/contracts/canonical-json';
import { canonicalJson } from '../../../policy/contracts/canonical-json';
import type { StagingRecord } from '../../../policy/contracts/staging-record';
import { clip } from '../../../policy/text/cut-text';
import type { Capture } from './capture';
import { columnsOf } from './row-text';
import { netChanges } from './touched';

const MAX_ROWS = 20;
const MAX_TABLES = 20;
const MAX_CELL = 300;

/**
 * Rows before and after, for display: at most 20, with long values truncated. A new value that is not compared at commit is not
 * shown, because the commit may write another one. Contains data of the target, so it must not enter the workflow history.
 * Deterministic: equal rehearsals have equal previews.
 */
export function previewOf(capture: Capture, notCompared: StagingRecord['notCompared']): JsonObject {
  const all = [...netChanges(capture)].sort(([a], [b]) => (a < b ? -1 : 1));
  const each = Math.max(1, Math.floor(MAX_ROWS / Math.max(1, all.length)));
  const tables = all.slice(0, MAX_TABLES).map(([table, changes]) => ({
    table,
    total: changes.length,
    rows: changes
      .map((c) => ({ before: cells(c.before), after: without(cells(c.after), table, notCompared) }))
      .map((row) => ({ row, sortKey: canonicalJson(row) }))
      .sort((a, b) => (a.sortKey < b.sortKey ? -1 : 1))
      .slice(0, each)
      .map(({ row }) => row),
  }));
  return { tables, moreTables: Math.max(0, all.length - MAX_TABLES) };
}

function cells(row: string | null): JsonObject | null {
  if (row === null) return null;
  // fromEntries instead of assignments, because a column may be named __proto__.
  return Object.fromEntries([...columnsOf(row)].map(([name, text]) => [name, cell(text)]));
}

function without(row: JsonObject | null, table: string, notCompared: StagingRecord['notCompared']): JsonObject | null {
  if (row === null) return null;
  const hidden = new Map(notCompared.filter((c) => c.table === table).map(({ column, why }) => [column, why]));
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      hidden.has(name) ? { notCompared: hidden.get(name) ?? '' } : value,
    ]),
  );
}

function cell(text: string): JsonValue {
  if (text.length > MAX_CELL) return `${clip(text, MAX_CELL)} (${text.length} characters)`;
  // Numbers stay text, because a JS number would round some of them.
  if (text.startsWith('"') || text === 'true' || text === 'false' || text === 'null')
    return JSON.parse(text) as JsonValue;
  return text;
}
