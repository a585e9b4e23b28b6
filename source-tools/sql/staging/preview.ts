import type { JsonObject, JsonValue } from '../../../policy/contracts/canonical-json';
import type { Capture } from './capture';
import { columnsOf } from './row-text';
import { netChanges } from './touched';

const MAX_ROWS_PER_TABLE = 50;
const MAX_TABLES = 20;
const MAX_CELL = 300;

/** Rows before and after, for display: at most 50 per table, with long values truncated. Contains data of the target, so it must not enter the workflow history. */
export function previewOf(capture: Capture): JsonObject {
  const all = [...netChanges(capture)].sort(([a], [b]) => (a < b ? -1 : 1));
  const tables = all.slice(0, MAX_TABLES).map(([table, changes]) => ({
    table,
    total: changes.length,
    rows: changes.slice(0, MAX_ROWS_PER_TABLE).map((c) => ({ before: cells(c.before), after: cells(c.after) })),
  }));
  return { tables, moreTables: Math.max(0, all.length - MAX_TABLES) };
}

function cells(row: string | null): JsonObject | null {
  if (row === null) return null;
  // fromEntries instead of assignments, because a column may be named __proto__.
  return Object.fromEntries([...columnsOf(row)].map(([name, text]) => [name, cell(text)]));
}

function cell(text: string): JsonValue {
  if (text.length > MAX_CELL) return `${text.slice(0, MAX_CELL)}… (${text.length} characters)`;
  // Numbers stay text, because a JS number would round some of them.
  if (text.startsWith('"') || text === 'true' || text === 'false' || text === 'null')
    return JSON.parse(text) as JsonValue;
  return text;
}
