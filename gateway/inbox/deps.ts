import type { KeySnapshot } from '../../policy/evidence/key-registry';
import type { ChallengeStore } from '../../storage/inbox/challenges';
import type { LedgerChanges } from '../../storage/inbox/ledger-changes';
import type { InboxNumbers } from '../../storage/inbox/numbers';
import type { PrecedentRow } from '../../storage/inbox/precedents';
import type { InboxLists } from '../../storage/inbox/review-list';
import type { SessionStore } from '../../storage/inbox/sessions';
import type { Enrollments } from '../../storage/keys/enrollments';
import type { InboxTrust } from './api';

/** A file of the built page. */
export interface InboxAsset {
  readonly bytes: Uint8Array;
  readonly gzipped: Uint8Array;
  readonly type: string;
}

/** The built page: `index.html`, and the files with a hash in their names. Only these are served. */
export interface InboxAssets {
  readonly index: InboxAsset;
  readonly files: ReadonlyMap<string, InboxAsset>;
}

/** What the page could not verify, and who saw it. */
export interface SeenDifferences {
  readonly person: string;
  readonly keyId: string;
  readonly differences: readonly { readonly name: string; readonly detail: string }[];
}

/** What the inbox needs besides the dependencies of the gateway. */
export interface InboxDeps {
  /** Null if the page was not built. */
  readonly assets: InboxAssets | null;
  /** The public origin, such as `https://countersign.example`. Its host is the relying party of the passkeys. */
  readonly origin: string;
  readonly trust: InboxTrust;
  readonly temporalUi: string | null;
  readonly keys: () => Promise<KeySnapshot>;
  readonly sessions: SessionStore;
  readonly challenges: ChallengeStore;
  readonly enrollments: Pick<Enrollments, 'enrollmentOf' | 'completeEnrollment'>;
  readonly lists: InboxLists;
  readonly numbers: InboxNumbers;
  readonly precedents: (of: {
    readonly tenant: string;
    readonly rule: string;
    readonly except: string;
  }) => Promise<readonly PrecedentRow[]>;
  /** Members by group of a published plan; null if the plan cannot be recomputed. */
  readonly groupsOf: (planHash: string) => Promise<ReadonlyMap<string, readonly string[]> | null>;
  readonly recordDifferences: (changeId: string, seen: SeenDifferences) => Promise<void>;
  readonly changes: LedgerChanges;
  /** A text that changes with each key, revocation and revision of the policy that is added. */
  readonly registryVersion: () => Promise<string>;
  /** From the ledger only; null for a review that was never opened. */
  readonly tenantOf: (changeId: string) => Promise<string | null>;
}
