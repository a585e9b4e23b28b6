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
import { z } from 'zod';
import { sha256Hex } from '../policy/contracts/hash';
import { Name, type Metadata } from '../policy/contracts/diff';
import type { ReceiptPredicate } from '../policy/contracts/outcome';
import { newNonce } from '../signing/nonce';
import { approve, refused, spend, type Approved, type GuardClient, type Refusal } from './approval';
import { describe, invalidInput, messageOf } from './errors';
import { GuardBlock } from './guard-block';
import { Milliseconds, parseInput } from './parse';

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

export type Guarded<Args extends readonly unknown[], Result> = (...args: Args) => Promise<Result | GuardBlock>;

type PreparedChange = Parameters<GuardClient['submit']>[0] & { readonly raw: Uint8Array };

const DAY_MS = 24 * 60 * 60 * 1000;

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
  return async (...args: Args) => new GuardedCall(tool, options, countersign, waiting, snapshot(args, options)).run();
}

class GuardedCall<Args extends readonly unknown[], Result> {
  #changeId: string | null = null;

  /** `waiting`: the changes for which calls of this process wait. */
  constructor(
    readonly tool: (...args: Args) => Promise<Result>,
    readonly options: GuardOptions<Args, Result>,
    readonly countersign: GuardClient,
    readonly waiting: Set<string>,
    readonly args: Args,
  ) {}

  async run(): Promise<Result | GuardBlock> {
    const staged = await this.options.stage(...this.args);
    const { change, changeId } = await this.#orRollback(() => this.#prepare(staged));
    this.#changeId = changeId;
    if (this.waiting.has(changeId))
      return await this.#stop(
        refused(
          'already_decided',
          'Another call in this process waits for the same change; an approval can be used only once',
        ),
      );
    this.waiting.add(changeId);
    try {
      const timeoutMs = this.options.timeoutMs ?? DAY_MS;
      const approval = await this.#orRollback(() => approve(this.countersign, change, changeId, timeoutMs));
      return approval.kind === 'refused' ? await this.#stop(approval) : await this.#perform(approval, change, changeId);
    } finally {
      this.waiting.delete(changeId);
    }
  }

  #prepare(staged: Staged): { change: PreparedChange; changeId: string } {
    const { raw, metadata } = parts(staged);
    const { sourceTool, target } = this.options;
    const change = {
      sourceTool,
      target,
      raw,
      requestKey: this.options.requestKey?.(...this.args) ?? newNonce(),
      ...(metadata === undefined ? {} : { metadata }),
    };
    const { changeId, bytes } = this.countersign.prepare(change);
    return { change: { ...change, raw: bytes }, changeId };
  }

  async #perform(approval: Approved, change: PreparedChange, changeId: string): Promise<Result | GuardBlock> {
    const { tool, options } = this;
    const changed = options.commit === undefined ? await this.#whyNotSame(approval, change) : null;
    if (changed !== null) return await this.#stop(refused('bytes_changed', changed, approval.outcome));
    // The last step before the effect.
    const unspent = await spend(this.countersign, approval, changeId);
    if (unspent !== null) return await this.#stop(unspent);
    if (options.commit === undefined) return await tool(...this.args);
    return await options.commit(Uint8Array.from(change.raw), approval.receipt, ...this.args);
  }

  /** Why staging again does not give the approved bytes; null if it does. */
  async #whyNotSame({ receipt }: Approved, change: PreparedChange): Promise<string | null> {
    const help = 'make it deterministic, or set `commit`';
    try {
      const again = parts(await this.options.stage(...this.args));
      const same = sha256Hex(this.countersign.prepare({ ...change, raw: again.raw }).bytes) === receipt.diffSha;
      return same ? null : `The second call of \`stage\` returned different bytes than were approved; ${help}`;
    } catch (error) {
      return `The second call of \`stage\` failed, so the effect did not run; ${help}: ${messageOf(error)}`;
    }
  }

  async #stop({ reason, explanation, outcome }: Refusal): Promise<GuardBlock> {
    const block = new GuardBlock(reason, explanation, this.#changeId, outcome);
    await this.options.rollback?.(block, ...this.args);
    return block;
  }

  /** What is thrown before the effect also means that it does not run. */
  async #orRollback<T>(work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.#stop(refused('failed', messageOf(error))).catch((failure: unknown) => {
        throw new AggregateError(
          [error, failure],
          `${messageOf(error)}; then \`rollback\` failed: ${messageOf(failure)}`,
        );
      });
      throw error;
    }
  }
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
