/**
 * Access of a source tool to its target: the types that committer and tools share. Only the committer calls these functions.
 *
 * A2 `stage` has no lasting effect on the target. `commit` applies a change id at most once, regardless of how many callers
 *    retry it.
 * A3 An expected refusal by the target is returned as data. A thrown failure is either `TARGET_UNAVAILABLE`, which is retryable
 *    (nothing was applied, or the next attempt detects what was), or `CONFIGURATION_ERROR`. If it cannot be determined whether
 *    the change was applied, the result is `unknown`.
 */
import type { JsonObject } from './canonical-json';
import type { DiffInput } from './diff';
import type { Facts } from './facts';
import type { StagingRecord } from './staging-record';

/**
 * How the committer accesses a target. Comes only from the committer's configuration, never from workflow input. A tool whose
 * targets have no URL extends this type.
 */
export interface TargetAccess {
  readonly name: string;
  /** PostgreSQL, or the target of a custom tool. Contains credentials: never log or return it. */
  readonly url?: string;
}

export interface TargetContext {
  readonly changeId: string;
  readonly target: TargetAccess;
  /** `plan.staging`. Each adapter validates it first. */
  readonly settings: JsonObject;
  /** Cancellation of the activity. Closes the connection immediately. */
  readonly signal?: AbortSignal;
  /** Aborts when the process stops using its targets. Until then a tool may keep connections open for later changes. Absent: it must not. */
  readonly inUse?: AbortSignal;
}

export interface StageContext extends TargetContext {
  readonly diff: DiffInput;
  readonly facts: Facts;
}

/** `preview` is for people. It contains rows of the target, so it stays with the committer and never enters histories or logs. */
export type Staged =
  | { readonly kind: 'staged'; readonly record: StagingRecord; readonly preview: JsonObject }
  /** The target, or its adapter, does not accept the change. Not an error, and not retried. `stale`: because its base has moved. */
  | { readonly kind: 'rejected'; readonly stale?: true; readonly explanation: string };

/** What was recorded about the requests of a change. */
export interface SendState {
  /** A request that applies the change may have reached the target. */
  readonly sent: boolean;
  /** Why an attempt has begun to undo the effect; null if none has. */
  readonly undoing: string | null;
  /** No attempt may send or undo any more. */
  readonly sealed: boolean;
}

export type BegunSend =
  /** Do not send: the change is sealed, or its effect is being undone. */
  | { readonly kind: 'sealed' }
  /** Do not send: another request may have reached the target, and `resend` is false. */
  | { readonly kind: 'sent' }
  /**
   * Send. `again`: another request may have reached the target before. `takeBack`: for a request that was not processed and never will be;
   * another attempt may then send.
   */
  | { readonly kind: 'begun'; readonly again: boolean; readonly takeBack: () => Promise<void> };

/** Records the requests that change the target and the undoing of an effect, for targets without a transaction for marker and effect. */
export interface Sends {
  readonly state: () => Promise<SendState>;
  /** Call it before each request that applies the change. `resend`: the target applies the change once even if it gets the request twice. */
  readonly begin: (options: { readonly resend: boolean }) => Promise<BegunSend>;
  /** Call it before the effect is undone. False: another attempt undoes it, or it is sealed and must not be undone. */
  readonly beginUndo: (explanation: string) => Promise<boolean>;
  /** Forbids further requests, and that an attempt begins to undo the effect. What began before may still be in flight. */
  readonly seal: () => Promise<SendState>;
}

export interface CommitContext extends StageContext {
  /** The committer's record that the answers approved. */
  readonly approved: StagingRecord;
  /** Key of the marker: the change id. */
  readonly idempotency: string;
  /** When the intent was written. The same for each attempt. */
  readonly intentAt: string;
  readonly sends: Sends;
  /** Runs the post validators on the actual effect, inside the transaction if there is one. If not ok, the effect is rolled back or undone. */
  readonly postCheck?: (
    record: StagingRecord,
  ) => Promise<{ readonly ok: true } | { readonly ok: false; readonly explanation: string }>;
  /**
   * Called immediately before the effect. Returns why the change must no longer be applied (the result is then `refused`), or null.
   * Throws TARGET_UNAVAILABLE, which `commit` rethrows, if the change must not be applied now.
   */
  readonly endedMeanwhile?: () => Promise<string | null>;
}

export type CommitResult =
  /** `replayed`: the marker existed already, and `effect` is the stored one. */
  | {
      readonly kind: 'applied';
      readonly effect: JsonObject;
      readonly replayed: boolean;
      /** Set if the effect should have been undone but could not be: both reasons. */
      readonly shouldBeReverted?: string;
    }
  /** The effect would differ from the approved one. Nothing was applied. `final`: it was sealed, and no request is in flight. */
  | { readonly kind: 'stale'; readonly explanation: string; readonly final?: true }
  /** The target does not accept it (constraint, permission), or it has ended (`endedMeanwhile`). Nothing was applied. */
  | { readonly kind: 'refused'; readonly explanation: string }
  /** The change was sealed before this attempt, or its effect is being undone. This attempt applied nothing; `seal` says how it ends. */
  | { readonly kind: 'sealed' }
  /** A post validator failed. The transaction was rolled back. */
  | { readonly kind: 'post_failed'; readonly explanation: string }
  /** A post validator failed after the effect was applied, and exactly this effect was undone. */
  | { readonly kind: 'compensated'; readonly explanation: string; readonly effect: JsonObject }
  /** The request was sent, but its response was lost. `seal` determines the result. */
  | { readonly kind: 'unknown'; readonly explanation: string };

export type ReadBack =
  | {
      readonly found: true;
      readonly effect: JsonObject;
      /** Set if post validators run after the effect and it is unknown whether they ran; `commit` then runs them. */
      readonly unchecked?: true;
      /** Set if post validators rejected the effect, and it could not be undone. */
      readonly shouldBeReverted?: string;
    }
  | { readonly found: false }
  /** It was applied, and then undone. */
  | { readonly found: 'undone'; readonly effect: JsonObject; readonly explanation: string }
  /** Neither marker nor read-back is conclusive: an operator must resolve it (`countersign resolve`). */
  | { readonly found: 'unknown'; readonly explanation: string };

/** What an adapter without transactions needs to recognize its own effect. */
export interface SettleContext extends TargetContext {
  /** The committer's record; null if there was no dry run. */
  readonly approved: StagingRecord | null;
  /** Null if no commit has started. */
  readonly intentAt: string | null;
  readonly sends: Sends;
}

/** Property functions, not methods, because they are passed on without `this`. */
export interface TargetEffects {
  readonly stage: (ctx: StageContext) => Promise<Staged>;
  readonly commit: (ctx: CommitContext) => Promise<CommitResult>;
  /**
   * Determines whether the change was applied. If it finds nothing, no later attempt can apply the change, including suspended ones.
   * Waits for an attempt in progress, for a bounded time; then throws a retryable failure.
   */
  readonly seal: (ctx: SettleContext) => Promise<ReadBack>;
  /** How long after the call of `endedMeanwhile` the effect may still occur, and after that of `beginUndo` the undo, in milliseconds. Default: 0. */
  readonly lateMs?: number;
}
