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

/** How the committer accesses a target. Comes only from the committer's configuration, never from workflow input. */
export type TargetAccess = UrlAccess | GitAccess | HttpAccess;

/** PostgreSQL, or the target of a custom tool. `url` contains credentials: never log or return it. */
export interface UrlAccess {
  readonly name: string;
  readonly url: string;
}

/** One ref of one repository on the committer's disk. */
export interface GitAccess {
  readonly name: string;
  readonly git: {
    /** Absolute path of a bare repository, or of the top of a normal one. */
    readonly repository: string;
    /** In full, such as `refs/heads/main`. */
    readonly ref: string;
    /** Author and committer of the commits that are written. */
    readonly author: { readonly name: string; readonly email: string };
  };
}

/** The resources below one address. */
export interface HttpAccess {
  readonly name: string;
  readonly http: {
    /** Scheme, host, port and path that every request stays under. */
    readonly baseUrl: string;
    /** Sent with every request: credentials. Never log them, never return them. */
    readonly headers: Readonly<Record<string, string>>;
    /** Allowed names of query parameters. */
    readonly queryNames: readonly string[];
    /** True if the server returns the same response for a second request with the same `Idempotency-Key`. */
    readonly replaysIdempotent: boolean;
    /** How a commit is undone after a post validator failed: with a PUT of the previous document, or not at all. */
    readonly undo: 'put' | 'none';
  };
}

export interface TargetContext {
  readonly changeId: string;
  readonly target: TargetAccess;
  /** `plan.staging`. Each adapter validates it first. */
  readonly settings: JsonObject;
  /** Cancellation of the activity. Closes the connection immediately. */
  readonly signal?: AbortSignal;
  /** Called between statements. */
  readonly heartbeat?: () => void;
}

export interface StageContext extends TargetContext {
  readonly diff: DiffInput;
  readonly facts: Facts;
}

/** `preview` is for people. It contains rows of the target, so it stays with the committer and never enters histories or logs. */
export type Staged =
  | { readonly kind: 'staged'; readonly record: StagingRecord; readonly preview: JsonObject }
  /** The target refused the change. This is a finding, not an error, and is not retried. `sqlstate` is null outside SQL, or if the adapter refused. */
  | {
      readonly kind: 'rejected';
      readonly explanation: string;
      readonly sqlstate: string | null;
      readonly preview: JsonObject;
    };

/** Whether a request that changes the target has gone out for this change: for targets that keep no marker for us. */
export interface Sends {
  /** Before the first byte. `first`: nobody has before; `again`: somebody may have; `sealed`: it must not go out. */
  readonly begin: () => Promise<'first' | 'again' | 'sealed'>;
  /** Nothing goes out any more; `sent` where something has already. */
  readonly seal: () => Promise<'sealed' | 'sent'>;
  readonly state: () => Promise<'none' | 'sent' | 'sealed'>;
}

export interface CommitContext extends StageContext {
  /** The committer's own record, the one the answers were given for. */
  readonly approved: StagingRecord;
  /** Key of the marker: the change id. */
  readonly idempotency: string;
  /** When the intent was written: the same at each attempt. */
  readonly intentAt: string;
  readonly sends: Sends;
  /** Post validators: called with what the commit really did, inside the transaction where there is one. Not ok: rolled back or undone. */
  readonly postCheck?: (
    record: StagingRecord,
  ) => Promise<{ readonly ok: true } | { readonly ok: false; readonly explanation: string }>;
  /** Asked as the last thing before the effect: why it must not happen any more, else null. Then nothing is applied (`refused`). */
  readonly endedMeanwhile?: () => Promise<string | null>;
}

export type CommitResult =
  /** `replayed`: the marker was there already, and this is the effect that it stored. */
  | {
      readonly kind: 'applied';
      readonly effect: JsonObject;
      readonly replayed: boolean;
      /** Why it should not stand, and why it could not be undone. */
      readonly stands?: string;
    }
  /** What it would do now differs from what was approved. Nothing applied. `final`: no attempt can apply it any more, without a seal. */
  | { readonly kind: 'stale'; readonly explanation: string; readonly final?: true }
  /** The target refused it (constraint, permission). Nothing applied. */
  | { readonly kind: 'refused'; readonly explanation: string; readonly final?: true }
  /** It had been given up before this attempt. Nothing applied. */
  | { readonly kind: 'sealed' }
  /** A post validator said no. Rolled back. */
  | { readonly kind: 'post_failed'; readonly explanation: string }
  /** A post validator said no once it was applied; exactly what we wrote was taken back. */
  | { readonly kind: 'compensated'; readonly explanation: string; readonly effect: JsonObject }
  /** It was sent and its answer was lost: `readBack` or `seal` decides. */
  | { readonly kind: 'unknown'; readonly explanation: string };

export type ReadBack =
  | {
      readonly found: true;
      readonly effect: JsonObject;
      /** Post validators run after the effect here, and nobody can tell from it whether they have: `commit` runs them. */
      readonly unchecked?: true;
    }
  | { readonly found: false }
  /** It was applied, and taken back. */
  | { readonly found: 'undone'; readonly effect: JsonObject; readonly explanation: string }
  /** Neither marker nor read-back tells: an operator must (`countersign resolve`). */
  | { readonly found: 'unknown'; readonly explanation: string };

/** What an adapter without a transaction needs to know its own effect again. */
export interface SettleContext extends TargetContext {
  /** The committer's own record; null where there was no dry run. */
  readonly approved: StagingRecord | null;
  /** Null where no commit has begun. */
  readonly intentAt: string | null;
  readonly sends: Sends;
}

/** Property functions, since they get passed on. */
export interface TargetEffects {
  readonly stage: (ctx: StageContext) => Promise<Staged>;
  readonly commit: (ctx: CommitContext) => Promise<CommitResult>;
  /** Was the change applied? Waits for an attempt that is still under way (bounded, then retryable). */
  readonly readBack: (ctx: SettleContext) => Promise<ReadBack>;
  /** As `readBack`; where nothing is found, no attempt can apply the change any more, not even one that sleeps now. */
  readonly seal: (ctx: SettleContext) => Promise<ReadBack>;
  /** How long after `endedMeanwhile` was asked its effect may still come. Default 0. */
  readonly lateMs?: number;
}
