import { z } from 'zod';
import type { JsonObject } from '../../policy/contracts/canonical-json';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import type { VerifiedReview } from '../../signing/verified-review';
import { columnOrder } from '../../policy/text/column-order';
import { line, styled, type Printer, type Style } from '../printer';

const MAX_ROWS = 20;

// Not z.record, which drops a column named `__proto__`.
const Cells = z.custom<JsonObject>((v) => typeof v === 'object' && v !== null && !Array.isArray(v)).nullable();
const RowPreview = z.strictObject({
  tables: z.array(
    z.strictObject({
      table: z.string(),
      total: z.int().min(0),
      rows: z.array(z.strictObject({ before: Cells, after: Cells })),
    }),
  ),
  moreTables: z.int().min(0),
});
/** A new value that the preview leaves out. An object with other members is a value. */
const Masked = z.strictObject({ notCompared: z.string() });
type PreviewRow = z.infer<typeof RowPreview>['tables'][number]['rows'][number];

/** `screen`: each row on one line, long lists shortened, with a note of what is left out. `full`: everything. */
export type Extent = 'screen' | 'full';
const MAX_LISTED = 4;

/** Number of rows that a preview shows. */
export function shownRows(preview: JsonObject | null): number {
  const rows = RowPreview.safeParse(preview);
  return rows.success ? Math.min(MAX_ROWS, rows.data.tables.flatMap((table) => table.rows).length) : 0;
}

/** Prints what the dry run did, what it could not say, and at most 20 rows before and after. */
export function printStaging(
  out: Printer,
  { staging, preview }: Pick<VerifiedReview, 'staging' | 'preview'>,
  extent: Extent = 'full',
  maxRows = MAX_ROWS,
): void {
  if (staging === null) return;
  const measured = staging.origin === 'measured' ? '' : ', claimed by the requester and not verified';
  out.line(line`${styled('bold', 'Dry run')}${measured}`);
  if (staging.reason === 'not_rehearsed')
    out.line(styled('yellow', '  not rehearsed: nothing was executed. The change first executes in the commit'));
  printCounts(out, staging, extent);
  if (staging.uncaptured.length > 0) out.line(styled('yellow', '  not captured'));
  printList(out, staging.uncaptured, extent);
  printNotCompared(out, staging, extent);
  if (staging.previewSha !== null) printPreview(out, preview, extent, Math.min(MAX_ROWS, maxRows));
  if (extent === 'full') out.line();
}

function printCounts(out: Printer, { tables, sideEffects }: StagingRecord, extent: Extent): void {
  const counts = [...effectsText(tables, ''), ...effectsText(sideEffects, 'side effect on ')];
  const shown = extent === 'full' ? counts : counts.slice(0, 2 * MAX_LISTED);
  for (const text of shown) out.line(line`  ${text}`);
  printOmitted(out, counts.length - shown.length, 'tables');
}

function effectsText(effects: StagingRecord['sideEffects'], how: string): string[] {
  return effects.map(
    ({ table, inserted, updated, deleted }) =>
      `${how}${table}: ${inserted} inserted, ${updated} updated, ${deleted} deleted`,
  );
}

function printNotCompared(out: Printer, { notCompared }: StagingRecord, extent: Extent): void {
  if (notCompared.length === 0) return;
  out.line(styled('yellow', '  not compared: the commit may write other values into these columns'));
  printList(
    out,
    notCompared.map(({ table, column, why }) => `${table}.${word(column)}: ${why}`),
    extent,
  );
}

function printList(out: Printer, all: readonly string[], extent: Extent): void {
  const shown = extent === 'full' ? all : all.slice(0, MAX_LISTED);
  for (const text of shown) out.block(text, '      ');
  printOmitted(out, all.length - shown.length, 'of these');
}

function printOmitted(out: Printer, count: number, what: string): void {
  if (count > 0) out.line(styled('yellow', `      … ${count} more ${what} (--all)`));
}

function printPreview(out: Printer, preview: JsonObject | null, extent: Extent, maxRows: number): void {
  if (preview === null) {
    out.line(styled('yellow', '  its rows were not sent: do not confirm what you cannot see'));
    return;
  }
  const rows = RowPreview.safeParse(preview);
  // Other tools have other previews.
  if (!rows.success) {
    const max = extent === 'full' ? Infinity : 2;
    for (const [name, value] of Object.entries(preview)) {
      const omitted = out.block(`${word(name)}: ${JSON.stringify(value)}`, '  ', null, max);
      printOmitted(out, omitted, 'lines');
    }
    return;
  }
  let left = maxRows;
  let cut = false;
  for (const table of rows.data.tables) {
    const shown = table.rows.slice(0, left);
    left -= shown.length;
    const more = extent === 'screen' && shown.length < table.rows.length ? ` (--all shows ${table.rows.length})` : '';
    out.line(line`  ${table.table}: ${shown.length} of ${table.total} rows, before → after${more}`);
    shown.forEach((row, i) => (cut = printRow(out, row, i + 1, extent) || cut));
  }
  if (cut) out.line(styled('yellow', '      rows that end with … are cut at the width of the terminal (--all)'));
  if (rows.data.moreTables > 0) out.line(styled('yellow', `  and ${rows.data.moreTables} more tables`));
}

/** Returns whether the row was cut. */
function printRow(out: Printer, row: PreviewRow, n: number, extent: Extent): boolean {
  const [kind, style] = kindOf(row);
  const gutter = `  ${String(n).padStart(2)}. ${kind}  `;
  const text = rowText(row);
  if (extent === 'screen') return out.cut(text, gutter, style);
  out.block(text, gutter, () => style);
  return false;
}

function kindOf({ before, after }: PreviewRow): readonly [string, Style] {
  if (before === null) return ['insert', 'green'];
  return after === null ? ['delete', 'red'] : ['update', 'yellow'];
}

/**
 * The key if one is recognized, then the changed cells as `name: before → after`, then the others. Values are JSON, so that they cannot
 * imitate an arrow or another cell.
 */
function rowText({ before, after }: PreviewRow): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const cells = names.map((name) => {
    const [old, now] = [cell(before, name), cell(after, name)];
    const changes = before === null || after === null || old !== now;
    const values = changes ? [old, now].filter((value) => value !== null) : [old];
    return { name, changes, text: `${word(name)}: ${values.join(' → ')}` };
  });
  return columnOrder(cells)
    .map((i) => cells[i]?.text)
    .join('  ');
}

function cell(row: JsonObject | null, name: string): string | null {
  if (row === null) return null;
  const value = Object.hasOwn(row, name) ? row[name] : undefined;
  if (value === undefined) return 'absent';
  return Masked.safeParse(value).success ? 'not compared' : JSON.stringify(value);
}

/** A plain column name as it is, any other quoted, so that it cannot imitate a value. */
function word(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : JSON.stringify(name);
}
