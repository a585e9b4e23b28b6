import { escapeIdentifier } from 'pg';

/** Quotes an identifier without folding its case. Throws if it is empty or contains NUL, which PostgreSQL does not allow. */
export function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0')) throw new TypeError('A SQL identifier must not be empty or contain NUL');
  return escapeIdentifier(name);
}

/** Quotes a relation. Without a schema the server's search_path decides. */
export function quoteRelation(relation: { readonly schema: string | null; readonly name: string }): string {
  const name = quoteIdentifier(relation.name);
  return relation.schema === null ? name : `${quoteIdentifier(relation.schema)}.${name}`;
}

/**
 * Name of a relation for display and rules: `public.orders`. Parts are quoted unless they are plain lowercase names. Temporary schemas
 * become `pg_temp`, because their names differ by session.
 */
export function relationLabel(schema: string, name: string): string {
  const home = schema.startsWith('pg_temp_') ? 'pg_temp' : schema;
  return `${label(home)}.${label(name)}`;
}

function label(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : quoteIdentifier(name);
}
