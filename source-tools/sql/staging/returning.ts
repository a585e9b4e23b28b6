/**
 * The statement as it is sent: itself, with RETURNING so that every row comes back before and after.
 *
 * R1 Nothing of the statement changes: the clause is appended after a newline (the statement may end in a comment), and
 *    the result is parsed again and must be the same tree apart from its RETURNING.
 * R2 `pg_catalog.to_jsonb(alias.*)`: qualified, since a function of that name in the search path would be called instead;
 *    with the star, since a column that is named like the alias would be taken instead.
 */
import { parseSync } from 'libpg-query';
import { quoteIdentifier } from './identifiers';
import type { Statement } from './statements';

/** First PostgreSQL whose RETURNING knows OLD and NEW. */
export const OLD_NEW_VERSION = 180_000;

/** The last four columns are: table before, table after (oids), row before, row after. */
export type Instrumented =
  | { readonly captures: true; readonly text: string }
  /** Sent as it is; `reason` says why its rows are counted only. */
  | { readonly captures: false; readonly text: string; readonly reason: string };

type Returnable = Pick<Statement, 'text' | 'command' | 'returning' | 'upsert' | 'target'>;

/** Only for statements of kind `rows` that write to a table. The parser must be loaded. */
export function withReturning(statement: Returnable, versionNumber: number): Instrumented {
  const { text, returning } = statement;
  const plain = (reason: string): Instrumented => ({ captures: false, text, reason });
  let clause: string | null;
  if (versionNumber >= OLD_NEW_VERSION) {
    if (returning === 'unclear')
      return plain('its RETURNING cannot be extended, since a table of it is called like OLD or NEW');
    clause =
      returning === 'absent'
        ? `RETURNING WITH (OLD AS ${freeName(text, 'o__')}, NEW AS ${freeName(text, 'n__')}) ${columns(freeName(text, 'o__'), freeName(text, 'n__'))}`
        : `, ${columns(quoteIdentifier(returning.old), quoteIdentifier(returning.new))}`;
  } else {
    clause = olderClause(statement);
    if (clause === null)
      return plain(
        `PostgreSQL ${Math.floor(versionNumber / 10_000)} has no OLD and NEW in RETURNING (18 has), so its rows before the change cannot be captured`,
      );
  }
  const extended = `${text}\n${clause}`;
  if (!sameApartFromReturning(text, extended))
    return plain('its RETURNING cannot be extended without changing the statement');
  return { captures: true, text: extended };
}

function columns(old: string, now: string): string {
  return `${old}.tableoid, ${now}.tableoid, pg_catalog.to_jsonb(${old}.*)::text, pg_catalog.to_jsonb(${now}.*)::text`;
}

/** Below 18 an INSERT that never updates, and a DELETE, still show all there is. */
function olderClause({ command, upsert, returning, target }: Returnable): string | null {
  if (target === null || upsert || (command !== 'INSERT' && command !== 'DELETE')) return null;
  if (returning === 'unclear') return null;
  const alias = quoteIdentifier(target.alias);
  const row = `pg_catalog.to_jsonb(${alias}.*)::text`;
  const list = command === 'INSERT' ? `NULL, ${alias}.tableoid, NULL, ${row}` : `${alias}.tableoid, NULL, ${row}, NULL`;
  return `${returning === 'absent' ? 'RETURNING ' : ', '}${list}`;
}

function freeName(text: string, wish: string): string {
  let name = wish;
  const lower = text.toLowerCase();
  while (lower.includes(name)) name = `${name}_`;
  return name;
}

function sameApartFromReturning(text: string, extended: string): boolean {
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
    return false; // not understood: the statement goes as it is, and a human is asked
  }
}
