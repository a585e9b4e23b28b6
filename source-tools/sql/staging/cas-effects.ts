/**
 * `SQLCAS`: rows to compare and set.
 *
 * K1 Every operation must change exactly one row. Otherwise the full change is stale. At the dry run, a key that matches several rows
 *    is rejected instead: reading them again does not help.
 * K2 Rows are locked in the order of table and key before any is changed, so that two changes cannot deadlock. They are changed in
 *    the order of the document, because a row may depend on another one.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../policy/contracts/canonical-json';
import type { CommitContext, StageContext, TargetEffects } from '../../../policy/contracts/target-effects';
import { apply, seal } from './apply';
import type { Work } from './work';
import { expectedColumns, readCasDocument, type CasRow } from '../facts/cas-document';
import { casTable } from '../facts/sql-cas-facts';
import { casSql, columnTypes, lockSql, type ColumnTypes } from './cas-sql';
import { quoteRelation } from './identifiers';
import { rehearse, type Prepare } from './rehearse';
import { withReturning } from './returning';
import { IDLE_MS, type Session } from './session';
import { loadParser } from '../facts/parser';
import { rejected } from '../../rejected';

export const sqlCasEffects: TargetEffects = {
  stage: async (ctx: StageContext) => {
    const read = readCasDocument(ctx.diff.raw);
    if (!read.ok) return rejected(`${read.code}: ${read.message}`);
    await loadParser();
    return rehearse(ctx, prepareRows(read.rows));
  },
  commit: async (ctx: CommitContext) => {
    const read = readCasDocument(ctx.diff.raw);
    if (!read.ok) return { kind: 'refused', explanation: `${read.code}: ${read.message}` };
    await loadParser();
    return apply(ctx, prepareRows(read.rows));
  },
  seal,
  lateMs: IDLE_MS,
};

function prepareRows(rows: readonly CasRow[]): Prepare {
  return async (session, gate) => {
    const tables = new Map<string, ColumnTypes>();
    for (const table of new Set(rows.map((r) => r.table))) {
      try {
        const found = await typesOf(session, table, rows);
        if (!found.ok) return { ok: false, outcome: { kind: 'declined', explanation: found.explanation } };
        tables.set(table, found.types);
      } catch (error) {
        return { ok: false, outcome: { kind: 'failed', place: table, error } };
      }
    }
    const typed = (row: CasRow): ColumnTypes => tables.get(row.table) ?? new Map();
    const works = rows.map((row, index) => toWork(row, index, typed(row)));
    const stopped = await gate(works);
    if (stopped !== null) return { ok: false, outcome: stopped };
    const lockOrder = rows
      .map((row, index) => ({ row, index, sortKey: canonicalJson([row.table, row.key]) }))
      .filter(({ row }) => row.op !== 'insert')
      .sort((a, b) => (a.sortKey < b.sortKey ? -1 : 1));
    for (const { row, index } of lockOrder) {
      try {
        const { rowCount } = await session.run(lockSql(row, typed(row)));
        if (rowCount > 1)
          return {
            ok: false,
            outcome: {
              kind: 'missed',
              found: rowCount,
              explanation: `/rows/${index}: the key matches more than one row`,
            },
          };
      } catch (error) {
        return { ok: false, outcome: { kind: 'failed', place: `/rows/${index}`, error } };
      }
    }
    return { ok: true, works };
  };
}

async function typesOf(
  session: Session,
  table: string,
  rows: readonly CasRow[],
): Promise<{ readonly ok: true; readonly types: ColumnTypes } | { readonly ok: false; readonly explanation: string }> {
  const used = new Set(
    rows
      .filter((r) => r.table === table)
      .flatMap((r) => [...Object.keys(r.key), ...expectedColumns(r), ...Object.keys(r.set ?? {})]),
  );
  const types = await columnTypes(session, quoteRelation(casTable(table)), [...used]);
  const missing = [...used].filter((name) => !types.has(name)).sort();
  if (missing.length === 0) return { ok: true, types };
  return {
    ok: false,
    explanation:
      types.size === 0
        ? `${table}: no such table, or it has none of the columns`
        : `${table}: no such column: ${missing.slice(0, 5).join(', ')}`,
  };
}

function toWork(row: CasRow, index: number, types: ColumnTypes): Work {
  const { text, values } = casSql(row, types);
  const command = row.op.toUpperCase();
  const relation = casTable(row.table);
  return {
    place: `/rows/${index}`,
    sha: createHash('sha256').update(canonicalJson(row), 'utf8').digest('hex'),
    command,
    values,
    target: quoteRelation(relation),
    plain: text,
    instrument: (versionNumber) =>
      withReturning(
        { text, command, returning: 'absent', upsert: false, target: { ...relation, alias: 't' } },
        versionNumber,
      ),
    uncapturable: null,
    exactlyOne: true,
  };
}
