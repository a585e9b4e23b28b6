/**
 * Adds a RETURNING clause to a statement, so that it returns every row before and after the change.
 *
 * R1 The statement is not changed otherwise. The clause is appended after a newline (the statement may end in a comment), and the
 *    result is parsed again and must have the same tree except for RETURNING.
 * R2 `pg_catalog.to_jsonb(alias.*)` is qualified, so that a function of that name in the search_path is not called, and has the star,
 *    so that it does not refer to a column named like the alias.
 */
import { parseSync } from 'libpg-query';
import { quoteIdentifier } from './identifiers';
import type { Statement } from './statements';

/** `server_version_num` of the first PostgreSQL that supports OLD and NEW in RETURNING. */
export const OLD_NEW_VERSION = 180_000;

/** The last four columns of the result are: oid of the table before and after, row before and after. */
export type Instrumented =
  | { readonly captures: true; readonly text: string }
  /** Sent unchanged. `reason` says why its rows are only counted. */
  | { readonly captures: false; readonly text: string; readonly reason: string };

type Returnable = Pick<Statement, 'text' | 'command' | 'returning' | 'upsert' | 'target'>;

/** Only for statements of kind `rows` that write to a table. The parser must be loaded. */
export function withReturning(statement: Returnable, versionNumber: number): Instrumented {
  const { text, returning } = statement;
  const plain = (reason: string): Instrumented => ({ captures: false, text, reason });
  let clause: string | null;
  if (versionNumber >= OLD_NEW_VERSION) {
    if (returning === 'unclear')
      return plain('its RETURNING clause cannot be extended, because one of its tables is named like OLD or NEW');
    clause =
      returning === 'absent'
        ? `RETURNING WITH (OLD AS ${unusedName(text, 'o__')}, NEW AS ${unusedName(text, 'n__')}) ${columns(unusedName(text, 'o__'), unusedName(text, 'n__'))}`
        : `, ${columns(quoteIdentifier(returning.old), quoteIdentifier(returning.new))}`;
  } else {
    clause = olderClause(statement);
    if (clause === null)
      return plain(
        `PostgreSQL ${Math.floor(versionNumber / 10_000)} does not support OLD and NEW in RETURNING (18 does), so the rows before the change cannot be captured`,
      );
  }
  const extended = `${text}\n${clause}`;
  if (!equalExceptReturning(text, extended))
    return plain('its RETURNING clause cannot be extended without changing the statement');
  return { captures: true, text: extended };
}

function columns(old: string, now: string): string {
  return `${old}.tableoid, ${now}.tableoid, pg_catalog.to_jsonb(${old}.*)::text, pg_catalog.to_jsonb(${now}.*)::text`;
}

/** Before PostgreSQL 18 only a plain INSERT and a DELETE can return all their rows. Null for other statements. */
function olderClause({ command, upsert, returning, target }: Returnable): string | null {
  if (target === null || upsert || (command !== 'INSERT' && command !== 'DELETE')) return null;
  if (returning === 'unclear') return null;
  const alias = quoteIdentifier(target.alias);
  const row = `pg_catalog.to_jsonb(${alias}.*)::text`;
  const list = command === 'INSERT' ? `NULL, ${alias}.tableoid, NULL, ${row}` : `${alias}.tableoid, NULL, ${row}, NULL`;
  return `${returning === 'absent' ? 'RETURNING ' : ', '}${list}`;
}

function unusedName(text: string, prefix: string): string {
  let name = prefix;
  const lower = text.toLowerCase();
  while (lower.includes(name)) name = `${name}_`;
  return name;
}

function equalExceptReturning(text: string, extended: string): boolean {
  try {
    const [before, after] = [text, extended].map((t) => {
      const { stmts } = parseSync(t) as unknown as {
        stmts?: readonly { stmt?: Record<string, Record<string, unknown>> }[];
      };
      if (stmts?.length !== 1) return null;
      const [[node, tree] = ['', {}]] = Object.entries(stmts[0]?.stmt ?? {});
      const { returningClause: _, ...rest } = tree;
      return JSON.stringify([node, rest]);
    });
    return before !== null && before === after;
  } catch {
    return false; // the statement is sent unchanged and needs a human confirmation
  }
}
