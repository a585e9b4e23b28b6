/**
 * SQL expression for the hash of the row `alias`, used as `expect.rowSha`: lowercase hexadecimal SHA-256 of the UTF-8 bytes of
 * `to_jsonb(row)::text` with the settings of transaction-start.ts. PostgreSQL orders the members of jsonb, so the text is deterministic.
 */
export function rowShaSql(alias: string): string {
  return `pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.to_jsonb(${alias}.*)::text, 'UTF8')), 'hex')`;
}
