/**
 * The hash of one whole row, as `expect.rowSha` names it: lower-case hex SHA-256 of the UTF-8 bytes of
 * `to_jsonb(row)::text`, in a session with TimeZone UTC, IntervalStyle postgres, bytea_output hex and
 * extra_float_digits 1. PostgreSQL orders the members of jsonb itself, so one row has one text.
 */
import { createHash } from 'node:crypto';

/** Set in every transaction of SQLCAS: a row's text may not depend on who asks, nor may a time without a zone. */
export const FIXED_SESSION = `SELECT pg_catalog.set_config('TimeZone', 'UTC', true), pg_catalog.set_config('DateStyle', 'ISO, MDY', true),
  pg_catalog.set_config('IntervalStyle', 'postgres', true), pg_catalog.set_config('bytea_output', 'hex', true),
  pg_catalog.set_config('extra_float_digits', '1', true)`;

/** The hash as SQL over the row of `alias`. */
export function rowShaSql(alias: string): string {
  return `pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.to_jsonb(${alias}.*)::text, 'UTF8')), 'hex')`;
}

/** The hash of a row whose `to_jsonb(row)::text` is at hand. */
export function rowShaOf(rowText: string): string {
  return createHash('sha256').update(rowText, 'utf8').digest('hex');
}
