import type { DiffInput, Submission } from '../../policy/contracts/diff';
import { inputSha as inputShaOf } from '../../policy/contracts/change-id';
import type { Facts } from '../../policy/contracts/facts';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import type { Plan } from '../../policy/contracts/plan';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import type { PolicyViolation } from '../../policy/contracts/violation';
import type { Waiving } from '../../policy/decide/waivers';
import type { StoredRow } from '../../policy/evidence/chain';
import { waivingOf } from '../../policy/evidence/recorded-findings';
import { stopRowOf } from '../../signing/assess-withdrawal';
import { firstUnmet, verifyReview } from '../../signing/verify-review';
import type { RefusalReason } from '../review-types';
import { readFacts } from '../review/derive';
import { collectReview, type AskedCommit, type VerificationDeps } from './collect-record';
import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';

export interface VerifiedChange {
  readonly ok: true;
  readonly submission: Submission;
  readonly inputSha: string;
  readonly plan: Plan;
  readonly planHash: string;
  readonly diff: DiffInput;
  readonly facts: Facts;
  readonly staging: StagingRecord | null;
  readonly stagingSha: string | null;
  readonly findings: readonly ValidatorFinding[];
  readonly waiving: Waiving | null;
  readonly violations: readonly PolicyViolation[];
  readonly fingerprint: string | null;
  /** When it was verified, ISO 8601. The row `intent` has this time, so that offline verification checks the same moment. */
  readonly at: string;
}

/** `check` is the name of the check that refused the change; the ledger records it. */
export interface RefusedChange {
  readonly ok: false;
  readonly check: string;
  readonly reason: RefusalReason;
  readonly explanation: string;
}

export type Verification = VerifiedChange | RefusedChange;

/** Runs `verifyReview` with everything that the committer can read. Throws retryable failures; returns every refusal. */
export async function verifyChange(
  deps: VerificationDeps,
  asked: AskedCommit,
  rows: readonly StoredRow[],
): Promise<Verification> {
  const { record, sources, diff, policyMoved } = await collectReview(deps, asked, rows);
  const { ok, checks, facts } = verifyReview(record, sources);
  const unmet = firstUnmet(checks);
  if (!ok || unmet !== undefined) {
    const stopped = unmet?.name === 'withdrawal' ? stopRowOf(record.rows.map(({ row }) => row)) : null;
    return {
      ok: false,
      check: unmet?.name ?? 'unknown',
      reason: stopped?.reason ?? (policyMoved ? 'policy_moved' : 'commit_refused'),
      explanation: stopped?.explanation ?? unmet?.detail ?? 'the review could not be verified',
    };
  }
  const { submission, pinned, staging, findings, disclosure } = facts;
  if (submission == null || pinned == null || findings === undefined || disclosure === undefined || diff === null)
    throw new Error('A verified review lacks a fact that its checks must establish');
  return {
    ok: true,
    submission,
    inputSha: inputShaOf(submission),
    ...pinned,
    diff,
    facts: await readFacts(deps, diff),
    staging: staging?.record ?? null,
    stagingSha: staging?.sha ?? null,
    findings,
    waiving: waivingOf(rows.map(({ row }) => row)),
    violations: disclosure.violations,
    fingerprint: disclosure.fingerprint,
    at: sources.at ?? '',
  };
}

/** Each try verifies the rows that arrived in the meantime. People send few statements, so more tries mean a flood of messages. */
const MAX_TRIES = 10;

/**
 * Reads, verifies and settles, and does all of it again if rows arrived after those that were read (`moved`). Throws STORE_UNAVAILABLE,
 * which is retried within the time-out of the activity, if rows keep arriving.
 */
export async function verifyUntilCurrent<T>(changeId: string, verify: () => Promise<T | 'moved'>): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const result = await verify();
    if (result !== 'moved') return result;
  }
  throw CountersignFailure.retryable(
    `Answers or findings of ${changeId} arrived during each of ${MAX_TRIES} verifications`,
    FailureType.Store,
  );
}

/** Number of the last row; -1 without rows. */
export function lastNOf(rows: readonly StoredRow[]): number {
  return rows.at(-1)?.row.n ?? -1;
}
