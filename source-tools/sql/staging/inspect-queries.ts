/** Catalog queries of the check before a rehearsal. They read catalogs only: they take no lock on a user table and execute no user function. */

/**
 * One row: schemas of the search path (JSON), and whether the database has casts, operators, and checks of domains that are not part
 * of PostgreSQL. Most databases have none, and then OPERATORS, CASTS and DOMAIN_CHECKS have nothing to find. The checks of domains in
 * information_schema compare with constants, by built-in immutable functions.
 */
export const OVERVIEW = `
SELECT pg_catalog.to_json(pg_catalog.current_schemas(true))::text,
  EXISTS (SELECT FROM pg_catalog.pg_cast c WHERE c.oid >= 16384)::text,
  EXISTS (SELECT FROM pg_catalog.pg_operator o WHERE o.oprnamespace <> 'pg_catalog'::pg_catalog.regnamespace)::text,
  EXISTS (SELECT FROM pg_catalog.pg_constraint c WHERE c.contypid > 0 AND c.oid >= 16384)::text`;

/** $1: names. Functions in every schema: oid, schema, name. */
export const FUNCTIONS_BY_NAME = `
SELECT p.oid::text, n.nspname, p.proname FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE p.proname = ANY($1::name[])`;

/**
 * $1: names, $2: schemas or null for every schema. Functions that `value.name` would call, which PostgreSQL reads as `name(value)`:
 * oid, schema, name. Immutable built-in functions are left out, because they only compute a value.
 */
export const MEMBER_FUNCTIONS = `
SELECT p.oid::text, n.nspname, p.proname FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE p.proname = ANY($1::name[]) AND p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1
  AND ((n.nspname = 'pg_catalog' AND p.provolatile <> 'i')
    OR (n.nspname <> 'pg_catalog' AND ($2::name[] IS NULL OR n.nspname = ANY($2::name[]))))`;

/**
 * $1: names, $2: schemas or null for every schema. Operators outside pg_catalog: schema, name, whether its function is C code that is
 * not volatile.
 */
export const OPERATORS = `
SELECT n.nspname, o.oprname, (l.lanname IN ('c', 'internal') AND p.provolatile <> 'v')::text
FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace
JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode JOIN pg_catalog.pg_language l ON l.oid = p.prolang
WHERE o.oprname = ANY($1::name[]) AND n.nspname <> 'pg_catalog' AND ($2::name[] IS NULL OR n.nspname = ANY($2::name[]))`;

/** Functions of casts between any two types that are not C code: they run without being named. */
export const CASTS = `
SELECT p.oid::text FROM pg_catalog.pg_cast c JOIN pg_catalog.pg_proc p ON p.oid = c.castfunc
JOIN pg_catalog.pg_language l ON l.oid = p.prolang
WHERE c.oid >= 16384 AND NOT (l.lanname IN ('c', 'internal') AND p.provolatile <> 'v')`;

/**
 * Checks of all domains: name, expression. A statement can use a domain without naming it: by the arguments and results of functions,
 * columns, variables, views and casts.
 */
export const DOMAIN_CHECKS = `
SELECT 'the check of type ' || t.typname, c.conbin::text
FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_type t ON t.oid = c.contypid
WHERE c.oid >= 16384 AND c.conbin IS NOT NULL`;

/**
 * $1: names, $2: oids. Relations of these names in every schema, and with these oids: oid, kind, schema, name, columns in order
 * (JSON), those that are generated (JSON), oids of the table and all its children (JSON), estimated rows.
 */
export const RELATIONS_FOR_CHECK = `
SELECT c.oid::text, c.relkind::text, n.nspname, c.relname,
  (SELECT pg_catalog.jsonb_agg(a.attname ORDER BY a.attnum)::text FROM pg_catalog.pg_attribute a
   WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
  (SELECT pg_catalog.jsonb_agg(a.attname)::text FROM pg_catalog.pg_attribute a
   WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated <> ''),
  (WITH RECURSIVE family(oid) AS (
     SELECT c.oid UNION SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN family f ON i.inhparent = f.oid)
   SELECT pg_catalog.jsonb_agg(f.oid::text)::text FROM family f),
  CASE WHEN c.relkind NOT IN ('r', 'm') THEN 0
    WHEN c.reltuples >= 0 AND c.relpages > 0 THEN c.reltuples * (pg_catalog.pg_relation_size(c.oid) / 8192) / c.relpages
    ELSE pg_catalog.pg_relation_size(c.oid) / 100 END
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND (c.relname = ANY($1::name[]) OR c.oid = ANY($2::oid[]))`;

/**
 * $1: relations that are read, $2: that are written, $3: into which rows are inserted, $4: from which rows are deleted, $5: whose
 * rows are updated. In one statement, because each costs more to plan than to execute:
 * - `read`, `write`, `default`: expressions that reading, writing, or a missing value evaluates: what it is, expression
 * - `trigger`: triggers of users: relation, oid of the function
 * - `foreign`: foreign tables, also below a table that is named: relation
 * - `rule`: rewrite rules other than those of views: relation
 * - `cascade`: tables whose rows a foreign key then deletes or changes: oid, and whether it sets columns to their defaults. An UPDATE
 *   that moves a row to another partition deletes it for a foreign key to the first partition itself.
 */
export const ABOUT_RELATIONS = `
SELECT 'read', 'a policy of ' || c.relname, pg_catalog.concat_ws(' ', p.polqual::text, p.polwithcheck::text)
FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid AND c.relrowsecurity WHERE c.oid = ANY($1::oid[])
UNION ALL
SELECT 'read', 'the view ' || c.relname, pg_catalog.concat_ws(' ', r.ev_action::text, r.ev_qual::text)
FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class WHERE c.oid = ANY($1::oid[]) AND c.relkind = 'v'
UNION ALL
SELECT CASE WHEN a.attgenerated <> '' THEN 'read' ELSE 'default' END,
  CASE WHEN a.attgenerated <> '' THEN 'the generated column ' ELSE 'the default of column ' END || a.attname, d.adbin::text
FROM pg_catalog.pg_attrdef d JOIN pg_catalog.pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
WHERE d.adrelid = ANY($1::oid[]) AND (a.attgenerated <> '' OR d.adrelid = ANY($3::oid[]))
UNION ALL
SELECT 'default', 'the default of type ' || t.typname, t.typdefaultbin::text
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
WHERE t.typdefaultbin IS NOT NULL AND a.attrelid = ANY($3::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL
SELECT 'read', 'an index of ' || i.indrelid::regclass, pg_catalog.concat_ws(' ', i.indexprs::text, i.indpred::text)
FROM pg_catalog.pg_index i WHERE (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL) AND i.indrelid = ANY($1::oid[])
UNION ALL
SELECT 'read', 'the partition key of ' || t.partrelid::regclass, t.partexprs::text
FROM pg_catalog.pg_partitioned_table t WHERE t.partexprs IS NOT NULL AND t.partrelid IN (
  SELECT a.relid FROM pg_catalog.unnest($1::oid[]) AS r(oid) CROSS JOIN LATERAL pg_catalog.pg_partition_ancestors(r.oid) AS a(relid))
UNION ALL
SELECT 'write', 'the constraint ' || conname, conbin::text FROM pg_catalog.pg_constraint
WHERE contype = 'c' AND conbin IS NOT NULL AND conrelid = ANY($2::oid[])
UNION ALL
SELECT 'write', 'the condition of trigger ' || tgname, tgqual::text FROM pg_catalog.pg_trigger
WHERE tgqual IS NOT NULL AND tgenabled <> 'D' AND tgrelid = ANY($2::oid[])
UNION ALL
SELECT 'trigger', t.tgrelid::text, t.tgfoid::text FROM pg_catalog.pg_trigger t
WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgrelid = ANY($2::oid[])
UNION ALL
SELECT 'foreign', c.relname::text, NULL FROM pg_catalog.pg_class c WHERE c.relkind = 'f' AND c.oid = ANY($1::oid[])
UNION ALL
SELECT 'rule', c.relname::text, NULL FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class
WHERE r.ev_type <> '1' AND c.oid = ANY($2::oid[])
UNION ALL
SELECT 'cascade', f.conrelid::text, ('d' IN (f.confdeltype, f.confupdtype))::text
FROM pg_catalog.pg_constraint f JOIN pg_catalog.pg_class c ON c.oid = f.confrelid
WHERE f.contype = 'f' AND (
  (f.confdeltype IN ('c', 'n', 'd')
    AND (f.confrelid = ANY($4::oid[]) OR (f.confrelid = ANY($5::oid[]) AND c.relispartition AND f.conparentid = 0)))
  OR (f.confupdtype IN ('c', 'n', 'd') AND f.confrelid = ANY($5::oid[])))`;

/**
 * $1: oids, $2: allowed built-in names. Functions: oid, label, language, whether it is allowed, body or null, definition or null,
 * parsed SQL body or null, settings, defaults of arguments or null, whether it is C code that is not volatile. Built-in functions are
 * allowed if they are listed, immutable, or implement a built-in operator or cast: an immutable function can neither change nor read
 * any state (https://www.postgresql.org/docs/18/xfunc-volatility.html).
 */
export const FUNCTIONS_BY_OID = `
SELECT p.oid::text, n.nspname || '.' || p.proname, l.lanname,
  (n.nspname = 'pg_catalog' AND p.oid < 16384 AND (p.proname = ANY($2::name[]) OR p.provolatile = 'i'
    OR EXISTS (SELECT FROM pg_catalog.pg_operator o WHERE o.oprcode = p.oid AND o.oid < 16384)
    OR EXISTS (SELECT FROM pg_catalog.pg_cast c WHERE c.castfunc = p.oid AND c.oid < 16384)))::text,
  p.prosrc, CASE WHEN l.lanname = 'plpgsql' AND p.prokind = 'f' THEN pg_catalog.pg_get_functiondef(p.oid) END,
  p.prosqlbody::text, pg_catalog.array_to_string(p.proconfig, ', '), p.proargdefaults::text,
  (l.lanname IN ('c', 'internal') AND p.provolatile <> 'v')::text
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace JOIN pg_catalog.pg_language l ON l.oid = p.prolang
WHERE p.oid = ANY($1::oid[])`;
