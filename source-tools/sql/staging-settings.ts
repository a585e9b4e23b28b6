import { z } from 'zod';
import { COMMIT_ATTEMPT_MS, SETTLE_ATTEMPT_MS } from '../../policy/contracts/limits';
import { targetSettings } from '../target-settings';

/** The rest of an attempt to commit is for connecting, the verification and the post validators. */
const MAX_EXECUTION_MS = COMMIT_ATTEMPT_MS - 60_000;
/** A settling connects, begins a transaction and waits for the marker. */
const MAX_SETTLING_STEP_MS = SETTLE_ATTEMPT_MS / 4;

/** `plan.staging` for SQL targets: limits of a dry run and of a commit. Times are in milliseconds. */
export const SqlSettings = z.strictObject({
  statementTimeoutMs: z.int().min(50).max(MAX_EXECUTION_MS).default(5_000),
  lockTimeoutMs: z.int().min(10).max(60_000).default(1_000),
  /** Limit for all statements together. Enforced by PostgreSQL 17 and later. */
  transactionTimeoutMs: z.int().min(100).max(MAX_EXECUTION_MS).default(60_000),
  connectTimeoutMs: z.int().min(100).max(MAX_SETTLING_STEP_MS).default(5_000),
  /** More rows are counted but not captured, which gives the finding `base_unverifiable`. */
  maxCapturedRows: z.int().min(1).max(200_000).default(10_000),
  /** A change of more rows is not rehearsed, so a rehearsal locks at most this many rows and takes at most this many sequence values. */
  maxRehearsedRows: z.int().min(1).max(200_000).default(10_000),
  /** Limit for the whole rehearsal, all runs together, without connecting. */
  rehearsalTimeoutMs: z.int().min(100).max(5_000).default(5_000),
  /** Schemas in which unqualified names are looked up, in the rehearsal and in the commit. */
  searchPath: z.array(z.string().min(1).max(63)).min(1).max(20).default(['public']),
  /** Columns such as `public.orders.updated_at` that may be set to a bare clock (`now()`). Their new values are not compared. */
  volatileColumns: z.array(z.string().min(5).max(200)).max(200).default([]),
});
export type SqlSettings = z.infer<typeof SqlSettings>;

/** A rehearsal waits at most this long for a lock, because it must not queue up in front of other sessions. */
const REHEARSAL_LOCK_MS = 500;

/** Settings of a run that may take `remainingMs`. */
export function rehearsalSettings(settings: SqlSettings, remainingMs: number): SqlSettings {
  return {
    ...settings,
    statementTimeoutMs: Math.min(settings.statementTimeoutMs, remainingMs),
    lockTimeoutMs: Math.min(settings.lockTimeoutMs, REHEARSAL_LOCK_MS),
    transactionTimeoutMs: Math.min(settings.transactionTimeoutMs, remainingMs),
  };
}

/** Until the marker is taken, an attempt waits for a lock as long as for a statement: another attempt may have the marker. */
export function waitingForMarker(settings: SqlSettings): SqlSettings {
  return { ...settings, lockTimeoutMs: Math.min(settings.statementTimeoutMs, MAX_SETTLING_STEP_MS) };
}

export const toSqlSettings = (settings: unknown): SqlSettings => targetSettings(SqlSettings, 'a SQL target', settings);
