/**
 * Adds a RETURNING clause to a statement, so that it returns every row before and after the change. Before PostgreSQL 18 RETURNING
 * has no old rows: those of an UPDATE are read before it (old-rows.ts), and those of MERGE and ON CONFLICT DO UPDATE are not captured.
 *
 * R1 The statement is not changed otherwise. The clause is appended after a newline (the statement may end in a comment), and the
 *    result is parsed again and must have the same tree except for RETURNING.
 * R2 A row is returned as the server writes each value (row-text.ts). A conversion to JSON would omit differences: repeated names in
 *    json, JSON null and NULL, bounds of arrays, -0, and whatever a cast to json of the target's schema omits.
 */
import { onlyStatement } from '../facts/tree';
import { quoteIdentifier } from './identifiers';
import { oldRowsQuery } from './old-rows';
import { rowSql } from './row-text';
import type { Statement } from './statements';

/** `server_version_num` of the first PostgreSQL that supports OLD and NEW in RETURNING. */
export const OLD_NEW_VERSION = 180_000;
/** `server_version_num` of the oldest PostgreSQL on which this works. */
export const OLDEST_VERSION = 140_000;

/**
 * How a statement is sent so that its rows are captured. The last four columns of its result are: oid of the table before and after,
 * row before and after. Or why its rows are only counted.
 */
export type Instrumented =
  /** `oldRows`: query that reads the rows before the statement, or null if the statement itself returns them. */
  { readonly text: string; readonly oldRows: string | null } | { readonly uncaptured: string };

type Returnable = Pick<Statement, 'text' | 'command' | 'returning' | 'upsert' | 'target'>;

/** Only for statements of kind `rows` that write to a table. The parser must be loaded. */
export function withReturning(statement: Returnable, versionNumber: number): Instrumented {
  const { text, returning } = statement;
  const added = versionNumber >= OLD_NEW_VERSION ? clauseOf(text, returning) : olderClause(statement, versionNumber);
  if ('uncaptured' in added) return added;
  const extended = `${text}\n${added.clause}`;
  if (!equalExceptReturning(text, extended))
    return { uncaptured: 'its RETURNING clause cannot be extended without changing the statement' };
  return { text: extended, oldRows: added.oldRows };
}

type Added = { readonly clause: string; readonly oldRows: string | null } | { readonly uncaptured: string };

function clauseOf(text: string, returning: Statement['returning']): Added {
  if (returning === 'unclear')
    return {
      uncaptured: 'its RETURNING clause cannot be extended, because one of its tables is named like OLD or NEW',
    };
  if (returning !== 'absent')
    return { clause: `, ${columns(quoteIdentifier(returning.old), quoteIdentifier(returning.new))}`, oldRows: null };
  const [old, now] = [unusedName(text, 'o__'), unusedName(text, 'n__')];
  return { clause: `RETURNING WITH (OLD AS ${old}, NEW AS ${now}) ${columns(old, now)}`, oldRows: null };
}

function columns(old: string, now: string): string {
  return `${old}.tableoid, ${now}.tableoid, ${rowSql(old)}, ${rowSql(now)}`;
}

/** Before PostgreSQL 18 RETURNING has one row image: the new one, or the old one for DELETE. The names OLD and NEW have no meaning there. */
function olderClause({ text, command, upsert, returning, target }: Returnable, versionNumber: number): Added {
  const server = `PostgreSQL ${Math.floor(versionNumber / 10_000)}`;
  if (target === null || command === 'MERGE' || upsert) {
    const what = upsert ? 'INSERT … ON CONFLICT DO UPDATE' : command;
    return { uncaptured: `${server} does not return the rows before ${what} (18 does), so they cannot be captured` };
  }
  const alias = quoteIdentifier(target.alias);
  const row = rowSql(alias);
  const list = command === 'DELETE' ? `${alias}.tableoid, NULL, ${row}, NULL` : `NULL, ${alias}.tableoid, NULL, ${row}`;
  const clause = `${returning === 'absent' ? 'RETURNING ' : ', '}${list}`;
  if (command !== 'UPDATE') return { clause, oldRows: null };
  const oldRows = oldRowsQuery(text, target.alias);
  if (oldRows !== null) return { clause, oldRows };
  return {
    uncaptured: `${server} does not return the rows before an UPDATE (18 does), and its condition cannot be read separately`,
  };
}

function unusedName(text: string, prefix: string): string {
  let name = prefix;
  const lower = text.toLowerCase();
  while (lower.includes(name)) name = `${name}_`;
  return name;
}

/** If the parser fails, the statement is sent unchanged and needs a human confirmation. */
function equalExceptReturning(text: string, extended: string): boolean {
  const [before, after] = [text, extended].map((sql) => {
    const statement = onlyStatement(sql);
    if (statement === null) return null;
    const { returningClause: _, ...rest } = statement.node;
    return JSON.stringify([statement.type, rest]);
  });
  return before !== null && before === after;
}
