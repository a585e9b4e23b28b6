import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient, messageOf, type ErrorCode } from '../../client/errors';
import type { ReviewCalls } from '../../client/review-calls';
import { itemChange } from '../../bench/shop';
import type { Signer } from '../../client/signer';
import type { ReviewStatus } from '../../policy/contracts/status';
import { signedAnswers } from '../../dev/signed-answers';
import { retried } from '../../workers/retried';

/** A client gives up after this long without a server. */
const PATIENCE_MS = 120_000;
/** A review that has not ended after this long is lost. */
const MAX_REVIEW_MS = 300_000;
/** Each look verifies the whole review, which costs the client as much CPU as a worker needs for a step. */
const LOOK_AGAIN_MS = 1_000;

/** How a review is reached: over Temporal or over HTTP. */
export interface Route {
  /** Submits and reads reviews. */
  readonly calls: ReviewCalls;
  /** Sends the answers that `signer` signs. */
  readonly approver: Pick<ReviewCalls, 'answer'>;
  readonly signer: Signer;
}

export interface LoadResult {
  readonly submitted: number;
  /** Rows of the target whose change committed, with a verified receipt. */
  readonly committed: readonly number[];
  /** Why each was rolled back before it was confirmed, with a verified receipt: a dry run that exceeds its time limit ends its review. */
  readonly rolledBack: readonly string[];
  /** Why each other review is lost, with its id if it has one: it has no verified end, or was rolled back although it was confirmed. */
  readonly lost: readonly string[];
  /** Calls that were repeated, by the code of their error. */
  readonly retries: Readonly<Partial<Record<ErrorCode, number>>>;
}

export interface Load {
  readonly submitted: () => number;
  /** Starts no more reviews, and waits for the end of those that are open. */
  stop(): Promise<LoadResult>;
}

/**
 * Starts reviews at a fixed rate, over each route in turn. Each is submitted, answered and followed to its verified receipt by a client that
 * retries.
 */
export function startLoad(routes: readonly Route[], perSecond: number): Load {
  const retries: Partial<Record<ErrorCode, number>> = {};
  const passes = (error: unknown): boolean => {
    if (!isTransient(error)) return false;
    retries[error.code] = (retries[error.code] ?? 0) + 1;
    return true;
  };
  const retry: Retry = (call) => retried(call, passes, { withinMs: PATIENCE_MS });
  const running: Promise<End>[] = [];
  let isOver = false;
  const starting = (async () => {
    const began = performance.now();
    for (let i = 0; !isOver; i++) {
      const route = routes[i % routes.length];
      if (route !== undefined) running.push(review(route, retry, i));
      await sleep(Math.max(0, began + ((i + 1) * 1000) / perSecond - performance.now()));
    }
  })();
  return {
    submitted: () => running.length,
    async stop() {
      isOver = true;
      await starting;
      const ends = await Promise.all(running);
      return {
        submitted: running.length,
        committed: ends.flatMap((end, i) => (end.kind === 'committed' ? [i + 1] : [])),
        rolledBack: ends.flatMap((end) => (end.kind === 'rolled_back' ? [end.why] : [])),
        lost: ends.flatMap((end) => (end.kind === 'lost' ? [end.why] : [])),
        retries,
      };
    },
  };
}

/** Repeats a call that fails because a server is unavailable. */
type Retry = <T>(call: () => Promise<T>) => Promise<T>;

type End = { readonly kind: 'committed' } | { readonly kind: 'rolled_back' | 'lost'; readonly why: string };

async function review(route: Route, retry: Retry, i: number): Promise<End> {
  const { calls } = route;
  const change = itemChange(i + 1, 'stock = stock + 1');
  let changeId = '(not submitted)';
  try {
    ({ changeId } = await retry(() => calls.submit(change, { timeoutMs: 20_000 })));
    const status = await untilDisclosed(calls, retry, changeId);
    const isConfirmed = status !== null && (await answer(route, retry, status));
    const until = performance.now() + MAX_REVIEW_MS;
    while (performance.now() < until) {
      const result = await retry(() => calls.result(changeId, { timeoutMs: 10_000 }));
      if (result.state === 'PENDING') continue;
      if (!result.verified) return { kind: 'lost', why: `${changeId}: ${result.state} without a verified receipt` };
      if (result.state === 'COMMITTED') return { kind: 'committed' };
      const { reason, explanation } = result.outcome;
      const why = `${changeId}: ${result.state} (${reason}): ${explanation}`;
      return isConfirmed ? { kind: 'lost', why: `confirmed, but ${why}` } : { kind: 'rolled_back', why };
    }
    return { kind: 'lost', why: `${changeId}: still open after ${MAX_REVIEW_MS / 1000} s` };
  } catch (error) {
    return { kind: 'lost', why: `${changeId}: ${messageOf(error)}` };
  }
}

/** Null if the review ended without an answer. */
async function untilDisclosed(calls: ReviewCalls, retry: Retry, changeId: string): Promise<ReviewStatus | null> {
  const until = performance.now() + MAX_REVIEW_MS;
  while (performance.now() < until) {
    const status = await retry(() => calls.status(changeId));
    if (status.state === 'INTERVENTION_REQUIRED' && status.fingerprint !== null) return status;
    if (status.state !== 'RUNNING' && status.state !== 'INTERVENTION_REQUIRED') return null;
    await sleep(LOOK_AGAIN_MS);
  }
  throw new Error(`Nothing was disclosed in ${MAX_REVIEW_MS / 1000} s`);
}

/** False if no person is asked. */
async function answer({ approver, signer }: Route, retry: Retry, status: ReviewStatus): Promise<boolean> {
  const answers = signedAnswers(status, signer, 'confirm');
  if (answers.length === 0) return false;
  // The same answers: those that arrived before are reported as duplicates, and count once.
  const results = await retry(() => approver.answer(status.changeId, answers));
  const refused = Object.values(results).filter(({ code }) => !['accepted', 'duplicate', 'sent'].includes(code));
  if (refused.length > 0) throw new Error(`An answer was refused: ${JSON.stringify(refused)}`);
  return true;
}
