/** What is sent before the SQL of a diff: the reset of a connection that is kept, and the beginning of a transaction with its settings. */
import { type Client, escapeLiteral } from 'pg';
import type { SqlSettings } from '../staging-settings';
import { quoteIdentifier } from './identifiers';
import { MAX_AGE_MS } from './kept-connections';

/** The client waits this much longer than the server's own timeout. */
export const GRACE_MS = 2_000;

/**
 * What DISCARD ALL does, without DEALLOCATE ALL and DISCARD PLANS (S6 of session.ts). idle_session_timeout makes the server close the
 * idle connection if the client has vanished, unless the target sets another limit. The last statement returns what is not reset:
 * prepared statements that SQL made, and a schema for temporary tables, which remains in the search path.
 */
export const RESET = `
CLOSE ALL;
SET SESSION AUTHORIZATION DEFAULT;
RESET ALL;
UNLISTEN *;
SELECT pg_catalog.pg_advisory_unlock_all();
DISCARD TEMP;
DISCARD SEQUENCES;
SELECT pg_catalog.set_config('idle_session_timeout', '${MAX_AGE_MS + GRACE_MS}', false)
WHERE pg_catalog.current_setting('idle_session_timeout', true) = '0';
SELECT name FROM pg_catalog.pg_prepared_statements WHERE from_sql
UNION ALL SELECT 'pg_temp' WHERE pg_catalog.pg_my_temp_schema() <> 0`;

export async function sendReset(client: Client, text: string): Promise<void> {
  const results = (await client.query(text)) as unknown as readonly { readonly rows: readonly unknown[] }[];
  if (results.at(-1)?.rows.length !== 0) throw new Error('the session has state that is not reset');
}

interface Beginning {
  readonly settings: SqlSettings;
  readonly idleMs: number;
  readonly name: string;
  /** Whether {@link RESET} was sent before. */
  readonly isReset: boolean;
}

/** Sent before any SQL of the diff. The numbers are validated integers. */
export function beginText({ settings: s, idleMs, name, isReset }: Beginning): string {
  return [
    'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE',
    ...(isReset ? ['SET LOCAL idle_session_timeout TO DEFAULT'] : []),
    `SET LOCAL application_name = ${escapeLiteral(name)}`,
    `SET LOCAL statement_timeout = ${s.statementTimeoutMs}`,
    `SET LOCAL lock_timeout = ${s.lockTimeoutMs}`,
    `SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
    // The parser assumes this setting. With another value the server would read string literals differently.
    'SET LOCAL standard_conforming_strings = on',
    ...FIXED_SETTINGS,
    // Compiling a catalog query takes many times longer than it runs. Results are the same.
    'SET LOCAL jit = off',
    `SET LOCAL search_path = ${s.searchPath.map(quoteIdentifier).join(', ')}`,
    // A confirmed commit must survive a crash of the target. Stronger settings are kept.
    "SELECT pg_catalog.set_config('synchronous_commit', 'on', true) WHERE pg_catalog.current_setting('synchronous_commit') = 'off'",
    `SELECT pg_catalog.set_config('transaction_timeout', '${s.transactionTimeoutMs + idleMs}', true) WHERE pg_catalog.current_setting('server_version_num')::int >= 170000`,
    BOOT,
  ].join(';\n');
}

/** Settings that change the meaning of SQL text, the format of rows, or which rows are visible: fixed, whatever the role sets. */
const FIXED_SETTINGS = [
  `SET LOCAL TimeZone = 'UTC'`,
  `SET LOCAL DateStyle = 'ISO, MDY'`,
  `SET LOCAL IntervalStyle = 'postgres'`,
  `SET LOCAL bytea_output = 'hex'`,
  'SET LOCAL extra_float_digits = 1',
  'SET LOCAL row_security = on',
  'SET LOCAL transform_null_equals = off',
  'SET LOCAL array_nulls = on',
  `SET LOCAL backslash_quote = 'safe_encoding'`,
];

export interface Booted {
  readonly pid: string;
  readonly versionNumber: number;
  readonly version: string;
  readonly planCacheMode: string;
}

/**
 * `plan_cache_mode` for Countersign's own queries: planning one for the values of its parameters takes several times longer than
 * executing it. The statements of the diff run with the server's own value (STATE in catalog-queries.ts sets it).
 */
export const GENERIC_PLANS = 'force_generic_plan';

const BOOT = `SELECT pg_catalog.pg_backend_pid()::text AS pid, pg_catalog.current_setting('server_version_num') AS number, pg_catalog.current_setting('server_version') AS version,
pg_catalog.current_setting('plan_cache_mode') AS plans, pg_catalog.set_config('plan_cache_mode', '${GENERIC_PLANS}', true)`;

/** Sends several commands in one message, of which the last is {@link BOOT}. */
export async function sendBegin(client: Client, text: string): Promise<Booted> {
  const results = (await client.query(text)) as unknown as readonly { readonly rows: readonly BootRow[] }[];
  const [row] = results.at(-1)?.rows ?? [];
  if (row === undefined) throw new Error('the server did not return its version');
  return { pid: row.pid, versionNumber: Number(row.number), version: row.version, planCacheMode: row.plans };
}

type BootRow = Readonly<Record<'pid' | 'number' | 'version' | 'plans', string>>;
