/**
 * Guards a function of the caller's own process: cooperative mode (records.md §10). The committer verifies and signs; the
 * effect, and its being performed once, are the caller's (P2 to P4).
 *
 * U1 The effect runs only on COMMIT that a trusted committer signed for exactly these bytes, hashed again just before.
 * U2 An approval is spent on first use: a change whose review was over already, or that another call waits for, runs nothing.
 * U3 Whatever else happens (rejected, unverified, timed out, thrown) the effect does not run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sha256Hex } from '../policy/contracts/hash';
import type { Metadata } from '../policy/contracts/diff';
import type { ReceiptPredicate, ReviewOutcome } from '../policy/contracts/outcome';
import { newNonce } from '../signing/keys';
import { CountersignError, describe, type ErrorCode, invalidInput, messageOf } from './errors';
import { verifyReceipt } from './receipt';
import type { ReviewResult } from './result';
import type { ReviewCalls } from './review-calls';

/** What a tool would do, as bytes that people and rules can read. A string is its UTF-8 bytes. */
export type Staged = string | Uint8Array | { readonly raw: string | Uint8Array; readonly metadata?: Metadata };

export interface GuardOptions<Args extends readonly unknown[], Result> {
  readonly sourceTool: string;
  readonly target: string;
  /** Pure: the same arguments give the same bytes. It is called again before the tool runs, and must give the approved bytes. */
  readonly stage: (...args: Args) => Staged | Promise<Staged>;
  /** Performs the effect from the approved bytes alone. Without it the tool runs with a copy of its arguments. */
  readonly commit?: (approved: Uint8Array, receipt: ReceiptPredicate, ...args: Args) => Promise<Result>;
  /** Undoes what `stage` left behind. Runs whenever the effect does not. */
  readonly rollback?: (block: GuardBlock, ...args: Args) => Promise<void>;
  /** Default: a new one for each call, so that an approval never covers a second call. */
  readonly requestKey?: (...args: Args) => string;
  /** How long a call waits for the decision; then it withdraws the change. Default 24 hours. */
  readonly timeoutMs?: number;
}

export type GuardReason =
  /** Rules or people said no, or nobody answered in time: see `outcome`. */
  | 'rolled_back'
  /** No decision within `timeoutMs`; the change was withdrawn. */
  | 'timed_out'
  /** The outcome bears no receipt that a trusted committer signed for these bytes. */
  | 'unverified'
  /** The change had been decided before this call, or another call waits for it. */
  | 'already_decided'
  /** The plan is of an enforced target: the committer performed the effect, so the tool must not. */
  | 'not_cooperative'
  /** `stage` gave other bytes the second time. */
  | 'bytes_changed'
  /** Submitting or waiting failed. */
  | 'failed';

/** What a guarded call returns instead of the tool's result when the effect did not run (V34). */
export class GuardBlock {
  readonly kind = 'countersign/guard-block';
  /** Our part only: whoever holds the tool itself can call it unguarded. */
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

/** What guard() needs of the client; `Countersign` has it. */
export type GuardClient = Pick<ReviewCalls, 'prepare' | 'submit' | 'result' | 'withdraw' | 'trust'>;

const DAY_MS = 24 * 60 * 60 * 1000;
/** One wait: short enough for what stands between us and the server. */
const SLICE_MS = 60_000;
const RETRY_MS = 2_000;
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'temporal_unavailable',
  'worker_unavailable',
  'gateway_unavailable',
  'ledger_unavailable',
]);

/**
 * Wraps a function so that each call is staged, reviewed and, only when countersigned, performed.
 *
 *     const pay = guard(payOrder, { sourceTool: 'Payment', target: 'shop', stage: (order) => JSON.stringify(order) }, countersign);
 *     const paid = await pay(order); // the tool's result, or a GuardBlock
 */
export function guard<Args extends readonly unknown[], Result>(
  tool: (...args: Args) => Promise<Result>,
  options: GuardOptions<Args, Result>,
  countersign: GuardClient,
): Guarded<Args, Result> {
  if (typeof tool !== 'function')
    throw invalidInput('tool', 'an async function', describe(tool), 'Pass the function whose effect is to be held');
  if (typeof options.stage !== 'function')
    throw invalidInput('stage', 'a function', describe(options.stage), 'It says as bytes what the tool would do');
  if ((countersign.trust?.committers.length ?? 0) === 0) {
    throw invalidInput(
      'trust',
      'the public key of at least one committer',
      'none',
      'Give it where Countersign is made: without it no approval could ever be verified',
    );
  }
  const waiting = new Set<string>();
  return async (...live: Args) => {
    const args = snapshot(live, options);
    const { raw, metadata } = parts(await options.stage(...args));
    const change = {
      sourceTool: options.sourceTool,
      target: options.target,
      raw,
      requestKey: options.requestKey?.(...args) ?? newNonce(),
      ...(metadata === undefined ? {} : { metadata }),
    };
    const { changeId, bytes } = countersign.prepare(change);
    const stop = async (
      reason: GuardReason,
      explanation: string,
      outcome: ReviewOutcome | null = null,
    ): Promise<GuardBlock> => {
      const block = new GuardBlock(reason, explanation, changeId, outcome);
      await options.rollback?.(block, ...args);
      return block;
    };
    if (waiting.has(changeId))
      return await stop(
        'already_decided',
        'Another call of this process waits for the same change; an approval is spent on first use',
      );
    waiting.add(changeId);
    try {
      const approval = await approve(countersign, { ...change, raw: bytes }, changeId, options.timeoutMs ?? DAY_MS);
      if (approval.kind === 'no') return await stop(approval.reason, approval.explanation, approval.outcome);
      if (options.commit !== undefined) return await options.commit(Uint8Array.from(bytes), approval.receipt, ...args);
      const again = countersign.prepare({ ...change, raw: parts(await options.stage(...args)).raw });
      if (sha256Hex(again.bytes) !== approval.receipt.diffSha)
        return await stop(
          'bytes_changed',
          '`stage` gave other bytes than those approved: make it pure, or give `commit`',
          approval.outcome,
        );
      return await tool(...args);
    } finally {
      waiting.delete(changeId);
    }
  };
}

type Approval =
  | { readonly kind: 'yes'; readonly receipt: ReceiptPredicate; readonly outcome: ReviewOutcome }
  | {
      readonly kind: 'no';
      readonly reason: GuardReason;
      readonly explanation: string;
      readonly outcome: ReviewOutcome | null;
    };

async function approve(
  countersign: GuardClient,
  change: Parameters<GuardClient['submit']>[0] & { raw: Uint8Array },
  changeId: string,
  timeoutMs: number,
): Promise<Approval> {
  const no = (reason: GuardReason, explanation: string, outcome: ReviewOutcome | null = null): Approval => ({
    kind: 'no',
    reason,
    explanation,
    outcome,
  });
  const diffSha = sha256Hex(change.raw);
  try {
    const submitted = await countersign.submit(change);
    if (submitted.changeId !== changeId)
      return no('failed', `Submitted ${changeId}, and ${submitted.changeId} was answered`);
    if (submitted.outcome !== null)
      return no(
        'already_decided',
        'This change was decided before; an approval is spent on first use. Name a new requestKey',
        submitted.outcome,
      );
    const result = await decided(countersign, changeId, Date.now() + timeoutMs);
    return judged(result, changeId, diffSha, countersign, no) ?? (await givenUp(countersign, changeId, timeoutMs, no));
  } catch (error) {
    // Bad input is the programmer's mistake; everything else means that nobody said yes.
    if (error instanceof CountersignError && error.code === 'invalid_input') throw error;
    return no('failed', `The change could not be reviewed: ${messageOf(error)}`);
  }
}

/** Waits in slices, over outages: the review waits on the server, whatever becomes of the way there (P11). */
async function decided(countersign: GuardClient, changeId: string, until: number): Promise<ReviewResult> {
  for (;;) {
    try {
      const result = await countersign.result(changeId, {
        timeoutMs: Math.max(1, Math.min(SLICE_MS, until - Date.now())),
      });
      if (result.state !== 'PENDING' || Date.now() >= until) return result;
    } catch (error) {
      const passing = error instanceof CountersignError && PASSING.has(error.code);
      if (!passing || Date.now() + RETRY_MS >= until) throw error;
      await sleep(RETRY_MS);
    }
  }
}

/** Null while pending. */
function judged(
  result: ReviewResult,
  changeId: string,
  diffSha: string,
  { trust }: GuardClient,
  no: (reason: GuardReason, explanation: string, outcome?: ReviewOutcome | null) => Approval,
): Approval | null {
  switch (result.state) {
    case 'PENDING':
      return null;
    case 'ABORTED':
      return no('unverified', result.why);
    case 'ROLLED_BACK':
    case 'COMPENSATED':
      return no('rolled_back', result.outcome.explanation, result.outcome);
    case 'COMMITTED': {
      const { outcome } = result;
      if (result.verified !== true || trust === null)
        return no('unverified', result.why ?? 'No committer key is trusted here', outcome);
      const checked = verifyReceipt(outcome.receipt, trust);
      if (!checked.ok) return no('unverified', checked.why, outcome);
      const { receipt } = checked;
      if (receipt.changeId !== changeId || receipt.diffSha !== diffSha || receipt.action !== 'COMMIT')
        return no('unverified', 'The receipt is for another change, or for other bytes', outcome);
      if (receipt.mode !== 'cooperative')
        return no(
          'not_cooperative',
          'The target is enforced: its committer performed the effect, so the tool did not run',
          outcome,
        );
      return { kind: 'yes', receipt, outcome };
    }
    default:
      return result satisfies never;
  }
}

/** So that nobody is asked to approve an effect that nobody will perform any more. */
async function givenUp(
  countersign: GuardClient,
  changeId: string,
  timeoutMs: number,
  no: (reason: GuardReason, explanation: string) => Approval,
): Promise<Approval> {
  const { code } = await countersign.withdraw(changeId, {
    actor: 'guard',
    reason: `no decision within ${timeoutMs} ms`,
  });
  return no('timed_out', `No decision within ${timeoutMs} ms; withdrawing the change: ${code}`);
}

function parts(staged: Staged): { raw: string | Uint8Array; metadata?: Metadata } {
  return typeof staged === 'string' || ArrayBuffer.isView(staged) ? { raw: staged } : staged;
}

// A copy: what waits for a person for hours must not change under the approval.
function snapshot<Args extends readonly unknown[]>(args: Args, options: { readonly commit?: unknown }): Args {
  try {
    return structuredClone(args) as Args;
  } catch (error) {
    if (options.commit !== undefined) return args;
    throw invalidInput(
      'arguments',
      'values that can be copied',
      messageOf(error),
      'Pass data, or give `commit`, which works from the approved bytes',
    );
  }
}
