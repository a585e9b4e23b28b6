/**
 * The approval that a guarded call waits for and uses. A failure is returned as a refusal: it never becomes an approval. Only
 * invalid input, which is an error of the caller, throws.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256Hex } from '../policy/contracts/hash';
import type { ReceiptPredicate, ReviewOutcome } from '../policy/contracts/outcome';
import { newNonce } from '../signing/nonce';
import { CountersignError, isTransient, messageOf } from './errors';
import type { GuardReason } from './guard-block';
import { verifyReceipt } from './receipt';
import type { ReviewResult } from './result';
import type { ReviewCalls } from './review-calls';

/** The client methods that guard() uses. `Countersign` and `GatewayClient` have them. */
export type GuardClient = Pick<ReviewCalls, 'prepare' | 'submit' | 'result' | 'spend' | 'withdraw' | 'trust'>;

/** Duration of one wait, below the time-outs of usual proxies and load balancers. */
const WAIT_SLICE_MS = 60_000;
const RETRY_MS = 2_000;

/** Of a call that does not wait, with RETRY_MS between two: a gateway that restarts is back by then. */
const TRIES = 5;
const NO_KEY = 'The client has no trusted committer key';

/** Why the effect does not run. */
export interface Refusal {
  readonly kind: 'refused';
  readonly reason: GuardReason;
  readonly explanation: string;
  readonly outcome: ReviewOutcome | null;
}

export interface Approved {
  readonly kind: 'approved';
  readonly receipt: ReceiptPredicate;
  readonly outcome: ReviewOutcome;
}

type Approval = Approved | Refusal;

export function refused(reason: GuardReason, explanation: string, outcome: ReviewOutcome | null = null): Refusal {
  return { kind: 'refused', reason, explanation, outcome };
}

/** Submits the change and waits for its decision, at most `timeoutMs`; then it is withdrawn. */
export async function approve(
  countersign: GuardClient,
  change: Parameters<GuardClient['submit']>[0] & { raw: Uint8Array },
  changeId: string,
  timeoutMs: number,
): Promise<Approval> {
  const diffSha = sha256Hex(change.raw);
  try {
    const submitted = await repeatedly(() => countersign.submit(change));
    if (submitted.changeId !== changeId)
      return refused(
        'failed',
        `Submitted change ${changeId}, but the server answered with change ${submitted.changeId}`,
      );
    const { outcome } = submitted;
    if (outcome !== null && outcome.state !== 'COMMITTED') return refused('already_decided', notRun(outcome), outcome);
    const result = await waitForDecision(countersign, changeId, performance.now() + timeoutMs);
    const approval = approvalOf(result, changeId, diffSha, countersign);
    if (approval === null) return await withdrawAfterTimeout(countersign, changeId, timeoutMs);
    const isOld = outcome !== null && approval.kind === 'approved' && ageOf(approval) > timeoutMs;
    return isOld ? refused('already_decided', TOO_OLD, approval.outcome) : approval;
  } catch (error) {
    // Invalid input is a programming error. All other errors become a refusal.
    if (error instanceof CountersignError && error.code === 'invalid_input') throw error;
    return refused('failed', `The change could not be reviewed: ${messageOf(error)}`);
  }
}

/** Repeats a call after a transient error. A change that is submitted again is the same review. */
async function repeatedly<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error) || tries === TRIES) throw error;
      await sleep(RETRY_MS);
    }
  }
}

/** Of a change that was decided before this call. */
function notRun({ explanation }: ReviewOutcome): string {
  return `This change was decided before, and the effect did not run: ${explanation}. For a new review use a new requestKey`;
}

/**
 * An approval that was given before this call, for example while the process was down, is used if it is not older than the call would have
 * waited. The ledger decides which call uses it (`spend`).
 */
const ageOf = ({ receipt }: Approved): number => Date.now() - Date.parse(receipt.at);
const TOO_OLD =
  'This change was approved longer ago than a call waits, and another call may have used the approval. Look whether the effect happened; if not, use a new requestKey';

/**
 * Waits in slices and retries transient errors: the review continues on the server during an outage. `until`: of `performance.now()`, which
 * no change of the clock moves.
 */
async function waitForDecision(countersign: GuardClient, changeId: string, until: number): Promise<ReviewResult> {
  for (;;) {
    try {
      const result = await countersign.result(changeId, {
        timeoutMs: Math.max(1, Math.min(WAIT_SLICE_MS, until - performance.now())),
      });
      if (result.state !== 'PENDING' || performance.now() >= until) return result;
    } catch (error) {
      if (!isTransient(error) || performance.now() + RETRY_MS >= until) throw error;
      await sleep(RETRY_MS);
    }
  }
}

/** Null while the review is pending. */
function approvalOf(result: ReviewResult, changeId: string, diffSha: string, { trust }: GuardClient): Approval | null {
  switch (result.state) {
    case 'PENDING':
      return null;
    case 'ABORTED':
      return refused('unverified', result.why);
    case 'ROLLED_BACK':
    case 'COMPENSATED':
      return result.verified === true
        ? refused('rolled_back', result.outcome.explanation, result.outcome)
        : refused('unverified', result.why ?? NO_KEY, result.outcome);
    case 'COMMITTED': {
      const { outcome } = result;
      if (result.verified !== true || trust === null) return refused('unverified', result.why ?? NO_KEY, outcome);
      const checked = verifyReceipt(outcome.receipt, trust);
      if (!checked.ok) return refused('unverified', checked.why, outcome);
      const { receipt } = checked;
      if (receipt.changeId !== changeId || receipt.diffSha !== diffSha || receipt.action !== 'COMMIT')
        return refused('unverified', 'The receipt is for a different change, or for different bytes', outcome);
      if (receipt.mode !== 'cooperative')
        return refused(
          'not_cooperative',
          'The target is enforced: its committer has performed the effect, so the tool did not run',
          outcome,
        );
      return { kind: 'approved', receipt, outcome };
    }
    default:
      result satisfies never;
      return refused('unverified', 'The review has ended in a state that does not exist');
  }
}

/** Withdraws the change with the service key, so that people are not asked to approve an effect that will not run. */
async function withdrawAfterTimeout(countersign: GuardClient, changeId: string, timeoutMs: number): Promise<Approval> {
  const said = `No decision within ${timeoutMs} ms`;
  try {
    const { code } = await countersign.withdraw(changeId, { actor: 'guard', reason: said });
    return refused('timed_out', `${said}. Result of withdrawing the change: ${code}`);
  } catch (error) {
    return refused('timed_out', `${said}, and the change could not be withdrawn: ${messageOf(error)}`);
  }
}

/**
 * Records the use of the approval, the last step before the effect. Null if this call may perform it. A lost answer is asked for again
 * with the same nonce.
 */
export async function spend(
  countersign: GuardClient,
  { outcome }: Approved,
  changeId: string,
): Promise<Refusal | null> {
  const nonce = newNonce();
  try {
    const { spent, message } = await repeatedly(() => countersign.spend(changeId, nonce));
    return spent ? null : refused('already_used', message, outcome);
  } catch (error) {
    return refused(
      'failed',
      `The use of the approval could not be recorded, so the effect did not run: ${messageOf(error)}`,
      outcome,
    );
  }
}
