import { z } from 'zod';
import type { JsonObject } from '../../policy/contracts/canonical-json';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import type { VerifiedReview } from '../../signing/verified-review';
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
type PreviewRow = z.infer<typeof RowPreview>['tables'][number]['rows'][number];

/** Prints what the dry run did, what it could not say, and at most 20 rows before and after. */
export function printStaging(out: Printer, { staging, preview }: Pick<VerifiedReview, 'staging' | 'preview'>): void {
  if (staging === null) return;
  const measured = staging.origin === 'measured' ? '' : ', claimed by the requester and not verified';
  out.line(line`${styled('bold', 'Dry run')}${measured}`);
  if (staging.reason === 'not_rehearsed')
    out.line(styled('yellow', '  not rehearsed: nothing was executed. The change first executes in the commit'));
  printCounts(out, staging);
  if (staging.uncaptured.length > 0) out.line(styled('yellow', '  not captured'));
  for (const reason of staging.uncaptured) out.block(reason, '      ');
  printNotCompared(out, staging);
  if (staging.previewSha !== null) printPreview(out, preview);
  out.line();
}

function printCounts(out: Printer, { tables, sideEffects }: StagingRecord): void {
  for (const [effects, cause] of [
    [tables, ''],
    [sideEffects, ', by triggers, cascades or functions'],
  ] as const)
    for (const { table, inserted, updated, deleted } of effects)
      out.line(line`  ${table}: ${inserted} inserted, ${updated} updated, ${deleted} deleted${cause}`);
}

function printNotCompared(out: Printer, { notCompared }: StagingRecord): void {
  if (notCompared.length === 0) return;
  out.line(styled('yellow', '  not compared: the commit may write other values into these columns'));
  for (const { table, column, why } of notCompared) out.block(`${table}.${word(column)}: ${why}`, '      ');
}

function printPreview(out: Printer, preview: JsonObject | null): void {
  if (preview === null) {
    out.line(styled('yellow', '  its rows were not sent: do not confirm what you cannot see'));
    return;
  }
  const rows = RowPreview.safeParse(preview);
  // Other tools have other previews.
  if (!rows.success) {
    out.block(JSON.stringify(preview, null, 2), '      ');
    return;
  }
  let left = MAX_ROWS;
  for (const table of rows.data.tables) {
    const shown = table.rows.slice(0, left);
    left -= shown.length;
    out.line(line`  ${table.table}: ${shown.length} of ${table.total} rows`);
    shown.forEach((row, i) => printRow(out, row, i + 1));
  }
  if (rows.data.moreTables > 0) out.line(styled('yellow', `  and ${rows.data.moreTables} more tables`));
}

function printRow(out: Printer, row: PreviewRow, n: number): void {
  const [kind, style] = kindOf(row);
  const { changed, same } = cellsOf(row);
  out.block(`${n}. ${kind}${same.length === 0 ? '' : `  ${same.join(', ')}`}`, '    ', () => style);
  for (const cell of changed) out.block(cell, '        ');
}

function kindOf({ before, after }: PreviewRow): readonly [string, Style] {
  if (before === null) return ['insert', 'green'];
  return after === null ? ['delete', 'red'] : ['update', 'yellow'];
}

/** Each cell on one line, changed cells as `name: before → after`. Values are JSON, so that they cannot imitate an arrow. */
function cellsOf({ before, after }: PreviewRow): { readonly changed: string[]; readonly same: string[] } {
  const [changed, same]: [string[], string[]] = [[], []];
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  for (const name of names) {
    const [old, now] = [cell(before, name), cell(after, name)];
    if (before !== null && after !== null && old === now) same.push(`${word(name)}: ${old}`);
    else changed.push(`${word(name)}: ${[old, now].filter((value) => value !== null).join(' → ')}`);
  }
  return { changed, same };
}

function cell(row: JsonObject | null, name: string): string | null {
  if (row === null) return null;
  const value = Object.hasOwn(row, name) ? row[name] : undefined;
  if (value === undefined) return 'absent';
  const hidden = typeof value === 'object' && value !== null && 'notCompared' in value;
  return hidden ? 'not compared' : JSON.stringify(value);
}

/** A plain column name as it is, any other quoted, so that it cannot imitate a value. */
function word(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : JSON.stringify(name);
}
