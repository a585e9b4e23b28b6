/**
 * Finds reviews that are open in the ledger although their workflow is gone, of another type, failing its task, overdue, or waiting for
 * answers that the ledger has, and workflows that do not end after their reviews, and repairs them, so that every change and every
 * workflow reaches a terminal state.
 *
 * R1 One pass at a time across all committers, under an advisory lock. A pass looks at the reviews that had a problem before, at those
 *    that the server lists as suspect (suspects.ts), and at a bounded number of all open reviews, where the last pass stopped. So a
 *    problem is usually seen in the next pass, and always within one round.
 * R2 Nothing is done at the first sight of a problem, but after it was seen again for `graceMs`, while the workflow made no
 *    progress. A review that waits for people has no problem; neither has one whose workers are down.
 * R3 A workflow that fails its task is reset first, to the last workflow task before the event that the worker named. If its history
 *    did not replay, and still does not, it is reset further back. Then it is reset without the messages after that point. If that did not
 *    help either, or resets are refused, its review is ended. While many fail at once, only the first of these is done: that is a broken
 *    deployment, which an operator must fix. The reviews then end when they are overdue. Resets of more than a day ago do not count.
 * R4 A workflow that keeps asking for an end that the rows do not support, because someone completed an activity in place of our
 *    workers, does not continue without help: its review is ended.
 * R5 The ledger is written first, then the workflow is terminated. A review that is closed in the ledger cannot be changed.
 * R6 A workflow that fails its task after its review has ended is reset like others, so that it ends and signals the requester's workflow.
 *    If that does not help, it is terminated.
 * R7 A workflow that waits for answers that the ledger has gets a signal to read them again, also after a reset without messages.
 * R8 Nothing is ended by an old observation: the workflow is described again immediately before.
 * R9 While many workflows are gone at once, their reviews are ended only when they are overdue: the namespace may be the wrong one.
 * R10 A workflow whose history up to the point of its reset cannot be decrypted here is not reset, since the new run would fail at once: a
 *    payload key was removed too early. Its review ends when it is overdue; after the end of its review it is terminated after a day.
 */
import { tryAdvisoryLock } from '../../storage/database/try-advisory-lock';
import { inParallel } from '../in-parallel';
import { POLLED_MS } from '../pollers';
import { AfterEnd } from './after-end';
import { hasPollers, observe, type Observation } from './observe';
import { MAX_REVIEWS_PER_PASS, openAfter, openAmong } from './open-reviews';
import { problemAfterEnd, problemOf, type OpenReview, type Problem } from './problem';
import { CALL_MS, Repairs, type Found, type ReconcilerOptions } from './repairs';
import { suspects, type Suspects } from './suspects';

const AT_ONCE = 4;
/**
 * A target that hangs and a slow list take less. The roles of our database have a limit of 15 s, after which the session would lose the
 * lock. Without any limit, a committer whose machine is gone would keep it.
 */
const ALLOW_IDLE = `set local idle_in_transaction_session_timeout = '2min'`;
/** The list of the server lags behind. */
const LIST_OVERLAP_MS = 60_000;
/** Multiple of the grace period. */
const OVERDUE_GRACES = 12;
/** More workflows than this at once that fail their task, or that are gone, are not the fault of each (R3, R9). */
const MAX_AT_ONCE = 20;

export class Reconciler {
  readonly #repairs: Repairs;
  readonly #afterEnd = new AfterEnd();
  #cursor = '';
  #listedAt = Date.now();

  constructor(readonly options: ReconcilerOptions) {
    this.#repairs = new Repairs(options, (found) => this.#lookAgain(found));
  }

  /**
   * Resolves with the number of reviews that it looked at; null if another committer holds the lock. After `stopping` it begins with no
   * other review: while the server does not answer, a pass can take an hour.
   */
  pass(stopping?: AbortSignal): Promise<number | null> {
    const each = <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> =>
      inParallel(items, AT_ONCE, async (item) => (stopping?.aborted === true ? undefined : work(item)));
    return this.options.db.transaction(async (tx) => {
      if (!(await tryAdvisoryLock(tx, 'countersign reconciler', 2))) return null;
      await tx.query(ALLOW_IDLE);
      const listed = await this.#suspects();
      const reviews = await this.#chosen([...listed.failing, ...listed.ended]);
      const ended = await this.#afterEnd.next(this.options.db, listed);
      const looked = new Set(reviews.map(({ changeId }) => changeId));
      this.#repairs.forget((changeId) => !looked.has(changeId) && !this.#afterEnd.has(changeId));
      const found: Found[] = [];
      const keep = (changeId: string, problem: Problem | null, afterEnd: boolean): void => {
        if (problem === null) this.#repairs.forget((each) => each === changeId);
        else found.push({ changeId, problem, afterEnd });
      };
      await each(reviews, async (review) => keep(review.changeId, await this.#look(review), false));
      await each(ended, async (changeId) => keep(changeId, await this.#lookAfterEnd(changeId), true));
      const repair = this.#repairOf(found);
      // A huge history, or a target that does not answer, must not delay the repair of all others.
      await each(found, repair);
      return reviews.length;
    });
  }

  /** Repairs one of these. */
  #repairOf(found: readonly Found[]): (one: Found) => Promise<void> {
    const { logger } = this.options;
    const count = (nature: Problem['nature']): number =>
      found.filter(({ problem }) => problem.nature === nature).length;
    const [stuck, lost] = [count('stuck'), count('lost')];
    if (stuck > MAX_AT_ONCE)
      logger.error({ stuck }, 'Many workflows fail their task: check the review worker. They are not ended meanwhile');
    if (lost > MAX_AT_ONCE)
      logger.error(
        { lost },
        'Many workflows are gone: check the namespace and the server. Their reviews are ended only when they are overdue',
      );
    const polled = new Map<string, Promise<boolean>>();
    const workersAlive = (queue: string | null): Promise<boolean> => {
      if (queue === null) return Promise.resolve(false);
      const known = polled.get(queue) ?? this.#hasPollers(queue);
      polled.set(queue, known);
      return known;
    };
    return async (one) =>
      this.#repairs.repair(one, {
        workersAlive: await workersAlive(one.problem.taskQueue),
        manyStuck: stuck > MAX_AT_ONCE,
        manyLost: lost > MAX_AT_ONCE,
      });
  }

  /** False if the request fails: the queue can have any name, and a failure for one queue must not stop all other repairs. */
  async #hasPollers(queue: string): Promise<boolean> {
    const { temporal, graceMs, logger } = this.options;
    try {
      const withinMs = Math.max(graceMs, POLLED_MS);
      return await temporal.withDeadline(Date.now() + CALL_MS, () => hasPollers(temporal, queue, withinMs));
    } catch (error) {
      logger.warn({ queue: queue.slice(0, 100), error: String(error) }, 'The workers of a queue could not be listed');
      return false;
    }
  }

  async #chosen(listed: readonly string[]): Promise<readonly OpenReview[]> {
    const { db } = this.options;
    const next = await openAfter(db, this.#cursor);
    this.#cursor = next.length < MAX_REVIEWS_PER_PASS ? '' : (next.at(-1)?.changeId ?? '');
    const first = await openAmong(db, [...this.#repairs.seen(), ...listed]);
    const chosen = new Map([...first, ...next].map((review) => [review.changeId, review]));
    return [...chosen.values()];
  }

  /** Empty if the server cannot list them: the round over all open reviews goes on. */
  async #suspects(): Promise<Suspects> {
    const { temporal, logger } = this.options;
    const since = this.#listedAt;
    this.#listedAt = Date.now();
    try {
      return await temporal.withDeadline(Date.now() + CALL_MS, () =>
        suspects(temporal, new Date(since - LIST_OVERLAP_MS)),
      );
    } catch (error) {
      this.#listedAt = since;
      logger.warn({ error: String(error) }, 'The workflows with problems could not be listed');
      return { failing: new Set(), ended: new Set() };
    }
  }

  async #look(review: OpenReview): Promise<Problem | null> {
    const seen = await this.#observe(review.changeId);
    return seen === null ? null : problemOf(review, seen, Date.now(), OVERDUE_GRACES * this.options.graceMs);
  }

  /** R8 */
  async #lookAgain({ changeId, afterEnd }: Pick<Found, 'changeId' | 'afterEnd'>): Promise<Problem | null> {
    if (afterEnd) return this.#lookAfterEnd(changeId);
    const [review] = await openAmong(this.options.db, [changeId]);
    return review === undefined ? null : this.#look(review);
  }

  async #lookAfterEnd(changeId: string): Promise<Problem | null> {
    const seen = await this.#observe(changeId);
    if (seen === null) return null;
    if (seen.state !== 'running') this.#afterEnd.forget(changeId);
    return problemAfterEnd(seen);
  }

  /** Null if the request fails. */
  async #observe(changeId: string): Promise<Observation | null> {
    const { temporal, logger } = this.options;
    try {
      return await temporal.withDeadline(Date.now() + CALL_MS, () => observe(temporal, changeId));
    } catch (error) {
      logger.warn({ changeId, error: String(error) }, 'A workflow could not be described');
      return null;
    }
  }
}
