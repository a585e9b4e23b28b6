import type { ReviewResult } from '../client/result';
import type { Submitted } from '../client/review-calls';
import type { SubmitInput } from '../client/submission';
import type { ReviewStatus } from '../policy/contracts/status';
import type { DevClient } from './client';
import { query } from './query';
import type { DevSetup } from './setup';

/** A change for the target `shop`, unless it names another, under a new request key, unless it brings one. */
export type DrivenChange = Omit<SubmitInput, 'target'> & { readonly target?: string };

interface ReviewDriverOptions {
  readonly setup: DevSetup;
  readonly client: DevClient;
  /** Prefix of the request keys: the same change under the same key is the same review. */
  readonly prefix: string;
  /** How long to wait for a disclosure or an outcome. */
  readonly withinMs: number;
}

/** Takes changes through reviews and reads the targets, on a development set-up: for system tests and attacks. */
export interface ReviewDriver {
  input(change: DrivenChange): SubmitInput;
  submit(change: DrivenChange): Promise<Submitted>;
  /** Waits until violations are disclosed and a person must answer. */
  waiting(changeId: string): Promise<ReviewStatus>;
  ended(changeId: string): Promise<Exclude<ReviewResult, { state: 'PENDING' }>>;
  /** Queries a target as superuser. */
  target<R extends Record<string, unknown>>(text: string, values?: readonly unknown[], name?: string): Promise<R[]>;
}

export function reviewDriver({ setup, client, prefix, withinMs }: ReviewDriverOptions): ReviewDriver {
  let submitted = 0;
  const input = (change: DrivenChange): SubmitInput => ({
    target: 'shop',
    requestKey: `${prefix}${++submitted}`,
    ...change,
  });
  return {
    input,
    submit: (change) => client.countersign.submit(input(change)),
    waiting: (changeId) => client.waiting(changeId, withinMs),
    ended: (changeId) => client.ended(changeId, withinMs),
    target: (text, values = [], name = 'shop') => query(setup.targetAdminUrls[name] ?? '', text, values),
  };
}
