/**
 * Guards a function of the caller's process (cooperative mode). The committer verifies and signs the decision; the caller
 * performs the effect.
 *
 * U1 The effect runs only after a COMMIT that a trusted committer signed for exactly these bytes, which are hashed again just
 *    before.
 * U2 An approval is used at most once, in all processes together and however often its receipt is shown: the ledger records the
 *    use before the effect, for the first call only. If the process crashes after that, the effect may have begun or not, and no other
 *    call begins it.
 * U3 In all other cases (rejected, unverified, timed out, exception, ledger and gateway away) the effect does not run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { sha256Hex } from '../policy/contracts/hash';
import { Name, type Metadata } from '../policy/contracts/diff';
import type { ReceiptPredicate, ReviewOutcome } from '../policy/contracts/outcome';
import { newNonce } from '../signing/nonce';
import { CountersignError, describe, invalidInput, isUnavailable, messageOf } from './errors';
import { Milliseconds, parseInput } from './parse';
import { verifyReceipt } from './receipt';
import type { ReviewResult } from './result';
import type { ReviewCalls } from './review-calls';

/** The effect of a tool call, as bytes that people and rules can read. A string is encoded as UTF-8. */
export type Staged = string | Uint8Array | { readonly raw: string | Uint8Array; readonly metadata?: Metadata };

export interface GuardOptions<Args extends readonly unknown[], Result> {
  readonly sourceTool: string;
  readonly target: string;
  /** Must be deterministic: it is called again before the tool runs, and must then return the approved bytes. */
  readonly stage: (...args: Args) => Staged | Promise<Staged>;
  /** Performs the effect from the approved bytes. If absent, the tool runs with a copy of its arguments. */
  readonly commit?: (approved: Uint8Array, receipt: ReceiptPredicate, ...args: Args) => Promise<Result>;
  /**
   * Cleans up after `stage`. Runs if the effect does not run, also if the call throws because of that; if both throw, the call throws an
   * AggregateError of the two.
   */
  readonly rollback?: (block: GuardBlock, ...args: Args) => Promise<void>;
  /** Default: a new key for each call, so that an approval never covers a second call. */
  readonly requestKey?: (...args: Args) => string;
  /** How long a call waits for the decision before it withdraws the change. Default: 24 hours. */
  readonly timeoutMs?: number;
}

export type GuardReason =
  /** The review rolled back; `outcome` has the reason. */
  | 'rolled_back'
  /** No decision within `timeoutMs`; the change was withdrawn. */
  | 'timed_out'
  /** The outcome has no receipt for these bytes that a trusted committer signed. */
  | 'unverified'
  /** The change was decided before this call, or another call waits for it. */
  | 'already_decided'
  /** The target is enforced: the committer has performed the effect, so the tool must not. */
  | 'not_cooperative'
  /** The ledger has another call that used this approval. */
  | 'already_used'
  /** The second call of `stage` returned different bytes, or failed. */
  | 'bytes_changed'
  /** Submitting or waiting failed. */
  | 'failed';

/** What a guarded call returns instead of the tool's result if the effect did not run. */
export class GuardBlock {
  readonly kind = 'countersign/guard-block';
  /** Cooperative: code that has the original tool can still call it without the guard. */
  readonly mode = 'cooperative';

  constructor(
    readonly reason: GuardReason,
    readonly explanation: string,
    readonly changeId: string | null,
    readonly outcome: ReviewOutcome | null,
  ) {}
}

export function isGuardBlock(value: unknown): value is GuardBlock {
  return (
    typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'countersign/guard-block'
  );
}

export type Guarded<Args extends readonly unknown[], Result> = (...args: Args) => Promise<Result | GuardBlock>;

/** The client methods that guard() uses. `Countersign` and `GatewayClient` have them. */
export type GuardClient = Pick<ReviewCalls, 'prepare' | 'submit' | 'result' | 'spend' | 'withdraw' | 'trust'>;

const DAY_MS = 24 * 60 * 60 * 1000;
/** Duration of one wait, below the time-outs of usual proxies and load balancers. */
const WAIT_SLICE_MS = 60_000;
const RETRY_MS = 2_000;

const aFunction = z.custom((value) => typeof value === 'function', 'expected a function');
const Options = z.object({
  sourceTool: Name,
  target: Name,
  stage: aFunction,
  commit: aFunction.optional(),
  rollback: aFunction.optional(),
  requestKey: aFunction.optional(),
  timeoutMs: Milliseconds.optional(),
});

/**
 * Wraps a function so that each call is staged, reviewed, and performed only if it was approved.
 *
 *     const pay = guard(payOrder, { sourceTool: 'Payment', target: 'shop', stage: (order) => JSON.stringify(order) }, countersign);
 *     const paid = await pay(order); // the tool's result, or a GuardBlock
 */
export function guard<Args extends readonly unknown[], Result>(
  tool: (...args: Args) => Promise<Result>,
  options: GuardOptions<Args, Result>,
  countersign: GuardClient,
): Guarded<Args, Result> {
  assertUsable(tool, options, countersign);
  const waiting = new Set<string>();
  return async (...live: Args) => {
    const args = snapshot(live, options);
    const staged = await options.stage(...args);
    const stopFor =
      (changeId: string | null) =>
      async (reason: GuardReason, explanation: string, outcome: ReviewOutcome | null = null): Promise<GuardBlock> => {
        const block = new GuardBlock(reason, explanation, changeId, outcome);
        await options.rollback?.(block, ...args);
        return block;
      };
    /** What is thrown before the effect also means that it does not run. */
    const orRollback = async <T>(changeId: string | null, work: () => T | Promise<T>): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        await stopFor(changeId)('failed', messageOf(error)).catch((failure: unknown) => {
          throw new AggregateError(
            [error, failure],
            `${messageOf(error)}; then \`rollback\` failed: ${messageOf(failure)}`,
          );
        });
        throw error;
      }
    };
    const { change, changeId, bytes } = await orRollback(null, () => {
      const { raw, metadata } = parts(staged);
      const { sourceTool, target } = options;
      const requestKey = options.requestKey?.(...args) ?? newNonce();
      const change = { sourceTool, target, raw, requestKey, ...(metadata === undefined ? {} : { metadata }) };
      return { change, ...countersign.prepare(change) };
    });
    const stop = stopFor(changeId);
    if (waiting.has(changeId))
      return await stop(
        'already_decided',
        'Another call in this process waits for the same change; an approval can be used only once',
      );
    waiting.add(changeId);
    try {
      const approval = await orRollback(changeId, () =>
        approve(countersign, { ...change, raw: bytes }, changeId, options.timeoutMs ?? DAY_MS),
      );
      if (approval.kind === 'refused') return await stop(approval.reason, approval.explanation, approval.outcome);
      if (options.commit !== undefined) {
        const unspent = await spendOnce(countersign, changeId);
        if (unspent !== null) return await stop(unspent.reason, unspent.explanation, approval.outcome);
        return await options.commit(Uint8Array.from(bytes), approval.receipt, ...args);
      }
      const changed = await whyNotSame(approval.receipt.diffSha, async () => {
        const again = parts(await options.stage(...args));
        return countersign.prepare({ ...change, raw: again.raw }).bytes;
      });
      if (changed !== null) return await stop('bytes_changed', changed, approval.outcome);
      const unspent = await spendOnce(countersign, changeId);
      if (unspent !== null) return await stop(unspent.reason, unspent.explanation, approval.outcome);
      return await tool(...args);
    } finally {
      waiting.delete(changeId);
    }
  };
}

/** Throws `invalid_input`, also for callers without types. */
function assertUsable(tool: unknown, options: unknown, countersign: GuardClient): void {
  if (typeof tool !== 'function')
    throw invalidInput('tool', 'an async function', describe(tool), 'Pass the function to guard');
  parseInput(Options, options, 'See GuardOptions');
  if (typeof countersign !== 'object' || countersign === null)
    throw invalidInput('countersign', 'a client', describe(countersign), 'Pass a GatewayClient or a Countersign');
  if ((countersign.trust?.committers.length ?? 0) === 0) {
    throw invalidInput(
      'trust',
      'the public key of at least one committer',
      'none',
      'Set `trust` in the options of the client: without it no approval can be verified',
    );
  }
}

/** Why staging again does not give the approved bytes; null if it does. */
async function whyNotSame(approvedSha: string, stageAgain: () => Promise<Uint8Array>): Promise<string | null> {
  const help = 'make it deterministic, or set `commit`';
  try {
    const same = sha256Hex(await stageAgain()) === approvedSha;
    return same ? null : `The second call of \`stage\` returned different bytes than were approved; ${help}`;
  } catch (error) {
    return `The second call of \`stage\` failed, so the effect did not run; ${help}: ${messageOf(error)}`;
  }
}

const SPEND_TRIES = 5;
const NO_KEY = 'The client has no trusted committer key';

/**
 * Records the use of the approval, the last step before the effect. Null if this call may perform it. A lost answer is asked for again
 * with the same nonce.
 */
async function spendOnce(
  countersign: GuardClient,
  changeId: string,
): Promise<{ readonly reason: GuardReason; readonly explanation: string } | null> {
  const nonce = newNonce();
  for (let tries = 1; ; tries++) {
    try {
      const { spent, message } = await countersign.spend(changeId, nonce);
      return spent ? null : { reason: 'already_used', explanation: message };
    } catch (error) {
      if (!isUnavailable(error) || tries === SPEND_TRIES)
        return {
          reason: 'failed',
          explanation: `The use of the approval could not be recorded, so the effect did not run: ${messageOf(error)}`,
        };
      await sleep(RETRY_MS / 4);
    }
  }
}

type Approval =
  | { readonly kind: 'approved'; readonly receipt: ReceiptPredicate; readonly outcome: ReviewOutcome }
  | {
      readonly kind: 'refused';
      readonly reason: GuardReason;
      readonly explanation: string;
      readonly outcome: ReviewOutcome | null;
    };

function refused(reason: GuardReason, explanation: string, outcome: ReviewOutcome | null = null): Approval {
  return { kind: 'refused', reason, explanation, outcome };
}

async function approve(
  countersign: GuardClient,
  change: Parameters<GuardClient['submit']>[0] & { raw: Uint8Array },
  changeId: string,
  timeoutMs: number,
): Promise<Approval> {
  const diffSha = sha256Hex(change.raw);
  try {
    const submitted = await countersign.submit(change);
    if (submitted.changeId !== changeId)
      return refused(
        'failed',
        `Submitted change ${changeId}, but the server answered with change ${submitted.changeId}`,
      );
    if (submitted.outcome !== null)
      return refused(
        'already_decided',
        'This change was already decided, and an approval can be used only once. Use a new requestKey',
        submitted.outcome,
      );
    const result = await waitForDecision(countersign, changeId, Date.now() + timeoutMs);
    return (
      approvalOf(result, changeId, diffSha, countersign) ??
      (await withdrawAfterTimeout(countersign, changeId, timeoutMs))
    );
  } catch (error) {
    // Invalid input is a programming error. All other errors mean that there is no approval.
    if (error instanceof CountersignError && error.code === 'invalid_input') throw error;
    return refused('failed', `The change could not be reviewed: ${messageOf(error)}`);
  }
}

/** Waits in slices and retries transient errors: the review continues on the server during an outage. */
async function waitForDecision(countersign: GuardClient, changeId: string, until: number): Promise<ReviewResult> {
  for (;;) {
    try {
      const result = await countersign.result(changeId, {
        timeoutMs: Math.max(1, Math.min(WAIT_SLICE_MS, until - Date.now())),
      });
      if (result.state !== 'PENDING' || Date.now() >= until) return result;
    } catch (error) {
      if (!isUnavailable(error) || Date.now() + RETRY_MS >= until) throw error;
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

function parts(staged: Staged): { raw: string | Uint8Array; metadata?: Metadata } {
  if (typeof staged === 'string' || ArrayBuffer.isView(staged)) return { raw: staged };
  if (typeof staged === 'object' && staged !== null && 'raw' in staged) return staged;
  throw invalidInput(
    'stage',
    'a function that returns a string, bytes or an object with `raw`',
    `one that returns ${describe(staged)}`,
    'Return the effect of the tool as bytes',
  );
}

/** A copy: the caller may modify the arguments while the call waits for approval. */
function snapshot<Args extends readonly unknown[]>(args: Args, options: { readonly commit?: unknown }): Args {
  try {
    return structuredClone(args) as Args;
  } catch (error) {
    if (options.commit !== undefined) return args;
    throw invalidInput(
      'arguments',
      'values that can be copied',
      messageOf(error),
      'Pass values that structuredClone accepts, or set `commit`, which uses the approved bytes',
    );
  }
}
