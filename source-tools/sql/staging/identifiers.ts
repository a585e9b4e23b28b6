import { escapeIdentifier } from 'pg';

/** An identifier as SQL text, exactly as it is. Throws on what PostgreSQL cannot have as a name. */
export function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0')) throw new TypeError('A SQL identifier is neither empty nor holds NUL');
  return escapeIdentifier(name);
}

/** A relation as SQL text; without a schema the server's search path decides. */
export function quoteRelation(relation: { readonly schema: string | null; readonly name: string }): string {
  const name = quoteIdentifier(relation.name);
  return relation.schema === null ? name : `${quoteIdentifier(relation.schema)}.${name}`;
}

/** A relation for people and rules: `public.orders`; parts that are no plain lower-case name are quoted. Temporary schemas differ by session, so they are all `pg_temp`. */
export function relationLabel(schema: string, name: string): string {
  const home = schema.startsWith('pg_temp_') ? 'pg_temp' : schema;
  return `${label(home)}.${label(name)}`;
}

function label(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) ? name : quoteIdentifier(name);
}
