import type { ReviewClient } from '../../client/review-client';
import type { ReviewCalls } from '../../client/review-calls';
import type { StoredRow } from '../../policy/evidence/chain';

export interface ConnectOptions {
  readonly tenant?: string | undefined;
  /** A key file, instead of that of the login. Signs submissions, withdrawals and requests to a gateway. */
  readonly key?: string | undefined;
}

/**
 * What commands about reviews need. Two implementations: a gateway, for people and agents, and PostgreSQL and Temporal, for
 * operators on their host. Reviews, results and rows are verified with the trust roots of this configuration; lists are an index.
 */
export interface Connected {
  readonly reviews: Pick<ReviewCalls, 'submit' | 'review' | 'withdraw' | 'result'> &
    Pick<ReviewClient, 'bundle' | 'answer' | 'list'>;
  readonly ledgerRows: (changeId: string) => Promise<readonly StoredRow[]>;
  /** The evidence of a review as canonical text. `log` prints a line for people. */
  readonly evidence: (
    changeId: string,
    options: { readonly bytes: boolean },
    log: (text: string) => void,
  ) => Promise<string>;
  /** The key file for commands without `--key`; null without one. */
  readonly keyFile: string | null;
  /** The id of the key that signs submissions; null if they are not signed. */
  readonly keyId: string | null;
  /** Where the commands that `sign` prints send an answer; null for a gateway. */
  readonly temporal: { readonly address: string; readonly namespace: string } | null;
  readonly close: () => Promise<void>;
}
