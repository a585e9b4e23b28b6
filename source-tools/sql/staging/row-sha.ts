/**
 * Hash of one full row, used as `expect.rowSha`: lowercase hexadecimal SHA-256 of the UTF-8 bytes of `to_jsonb(row)::text`, in a
 * session with the settings of session.ts: TimeZone UTC, IntervalStyle postgres, bytea_output hex and extra_float_digits 1. PostgreSQL orders the members of
 * jsonb, so the text of a row is deterministic.
 */

/** SQL expression for the hash of the row `alias`. */
export function rowShaSql(alias: string): string {
  return `pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.to_jsonb(${alias}.*)::text, 'UTF8')), 'hex')`;
}
