import { CountersignFailure } from '../../../policy/contracts/failure';
import { z } from 'zod';
import { FailureType } from '../../../policy/contracts/failure-type';

/** `plan.staging` for SQL targets: limits of a dry run and of a commit. Times are in milliseconds. */
export const SqlSettings = z.strictObject({
  statementTimeoutMs: z.int().min(50).max(600_000).default(5_000),
  lockTimeoutMs: z.int().min(10).max(60_000).default(1_000),
  /** Limit for all statements together. Enforced by PostgreSQL 17 and later. */
  transactionTimeoutMs: z.int().min(100).max(3_600_000).default(60_000),
  connectTimeoutMs: z.int().min(100).max(60_000).default(5_000),
  /** More rows are counted but not captured, which gives the finding `base_unverifiable`. */
  maxCapturedRows: z.int().min(1).max(200_000).default(10_000),
});
export type SqlSettings = z.infer<typeof SqlSettings>;

/** Throws CONFIGURATION_ERROR with every invalid field. */
export function toSqlSettings(settings: unknown): SqlSettings {
  const parsed = SqlSettings.safeParse(settings);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((i) => `${i.path.join('.') || '(settings)'}: ${i.message}`).join('; ');
  throw CountersignFailure.nonRetryable(
    `Invalid staging settings for a SQL target: ${problems}`,
    FailureType.Configuration,
  );
}
