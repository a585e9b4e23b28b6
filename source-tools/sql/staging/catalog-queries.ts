/** Queries on a target's catalog. All names are qualified with pg_catalog, so objects of the target's schemas cannot shadow them. */

/**
 * $1: quoted relation. Returns oid, relkind, relhasrules, schema, name, and JSON arrays: the names of its columns in order, the oids of
 * the table and all its children, and the oids of the children that have further columns.
 */
export const TARGET = `
SELECT c.oid::text, c.relkind::text, c.relhasrules::text::char, n.nspname, c.relname, own.names::text, kin.oids::text, kin.wider::text
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (
  SELECT pg_catalog.jsonb_agg(a.attname ORDER BY a.attnum) AS names, pg_catalog.count(*) AS number
  FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) own
CROSS JOIN LATERAL (
  WITH RECURSIVE family(oid) AS (
    SELECT c.oid UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN family f ON i.inhparent = f.oid)
  SELECT pg_catalog.jsonb_agg(f.oid::text) AS oids,
    pg_catalog.jsonb_agg(f.oid::text) FILTER (WHERE c.relkind = 'r' AND own.number < (
      SELECT pg_catalog.count(*) FROM pg_catalog.pg_attribute a
      WHERE a.attrelid = f.oid AND a.attnum > 0 AND NOT a.attisdropped)) AS wider
  FROM family f) kin
WHERE c.oid = pg_catalog.to_regclass($1)::oid`;

/** $1: oid[]. Returns oid, schema, name, a JSON array of the primary key's columns or null, and relkind. */
export const RELATIONS = `
SELECT c.oid::text, n.nspname, c.relname,
  (SELECT pg_catalog.jsonb_agg(a.attname ORDER BY k.place)::text
   FROM pg_catalog.pg_index i
   CROSS JOIN LATERAL pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
   JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
   WHERE i.indrelid = c.oid AND i.indisprimary AND k.place <= i.indnkeyatts),
  c.relkind::text
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = ANY($1::oid[])`;

/**
 * One row: start of the transaction, roles, track_counts, the settings that change the meaning of SQL text or the format of rows, and
 * the rows changed so far in this transaction (JSON array of table oid, inserted, updated, deleted, or null). TOAST tables are excluded.
 * $1: `plan_cache_mode` of later statements.
 */
export const STATE = `
SELECT pg_catalog.transaction_timestamp()::text, session_user || '/' || current_user,
  pg_catalog.current_setting('track_counts'),
  pg_catalog.current_setting('TimeZone'), pg_catalog.current_setting('DateStyle'),
  pg_catalog.current_setting('IntervalStyle'), pg_catalog.current_setting('bytea_output'),
  pg_catalog.current_setting('extra_float_digits'),
  pg_catalog.array_to_string(pg_catalog.current_schemas(false), ','),
  pg_catalog.current_setting('default_text_search_config'), pg_catalog.current_setting('lc_monetary'),
  pg_catalog.current_setting('lc_numeric'), pg_catalog.current_setting('lc_time'),
  (SELECT pg_catalog.json_agg(pg_catalog.json_build_array(c.oid::text, s.inserted, s.updated, s.deleted))::text
   FROM pg_catalog.pg_class c
   CROSS JOIN LATERAL (SELECT
     pg_catalog.pg_stat_get_xact_tuples_inserted(c.oid) AS inserted,
     pg_catalog.pg_stat_get_xact_tuples_updated(c.oid) AS updated,
     pg_catalog.pg_stat_get_xact_tuples_deleted(c.oid) AS deleted) s
   WHERE c.relkind IN ('r', 'm') AND s.inserted + s.updated + s.deleted > 0),
  pg_catalog.set_config('plan_cache_mode', $1, true)`;

/** $1: quoted relation, $2: JSON array of column names. Returns name and type as SQL text. */
export const COLUMN_TYPES = `
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod)
FROM pg_catalog.pg_attribute a
WHERE a.attrelid = pg_catalog.to_regclass($1)::oid AND a.attnum > 0 AND NOT a.attisdropped
  AND a.attname = ANY(ARRAY(SELECT pg_catalog.jsonb_array_elements_text($2::jsonb))::name[])`;
