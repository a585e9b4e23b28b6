/**
 * Finds reviews that are open in the ledger although their workflow is gone, of another type, failing its task, or overdue, and
 * workflows that do not end after their reviews, and repairs them, so that every change and every workflow reaches a terminal state.
 *
 * R1 One pass at a time across all committers, under an advisory lock. A pass looks at the reviews that had a problem before, at those
 *    that the server lists as suspect (suspects.ts), and at a bounded number of all open reviews, where the last pass stopped. So a
 *    problem is usually seen in the next pass, and always within one round.
 * R2 Nothing is done at the first sight of a problem, but after it was seen again for `graceMs`, while the workflow made no
 *    progress. A review that waits for people has no problem; neither has one whose workers are down.
 * R3 A workflow that fails its task is reset first, to the last workflow task before the event that the worker named. If its history
 *    did not replay, and still does not, it is reset further back. Then it is reset without the messages that it had not yet handled.
 *    Its review is ended only if that did not help, and never while many fail at once: that is a broken deployment, which an operator
 *    must fix. The reviews then end when they are overdue.
 * R4 A workflow that keeps asking for an end that the rows do not support, because someone completed an activity in place of our
 *    workers, does not continue without help: its review is ended.
 * R5 The ledger is written first, then the workflow is terminated. A review that is closed in the ledger cannot be changed.
 * R6 A workflow that fails its task after its review has ended is reset like others, so that it ends and signals the requester's workflow.
 *    If that does not help, it is terminated.
 */
import type { Client } from '@temporalio/client';
import { endLostReview, recordRepair, resetsOf, type Repair } from '../../activities/committer/end-lost-review';
import type { CommitDeps } from '../../activities/committer/commit-deps';
import type { Database, Queryable } from '../../storage/database/database';
import type { Logger } from '../logger';
import { AfterEnd } from './after-end';
import { hasPollers, observe, type Observation } from './observe';
import { MAX_REVIEWS_PER_PASS, openAfter, openAmong } from './open-reviews';
import { problemAfterEnd, problemOf, type OpenReview, type Problem } from './problem';
import { resetPoint, resetTo, stoppedBy, type Stopped } from './reset';
import { suspects, type Suspects } from './suspects';

export interface ReconcilerOptions {
  readonly db: Database;
  readonly deps: CommitDeps;
  readonly temporal: Client;
  /** The queue of the review worker that this committer belongs to. */
  readonly reviewQueue: string;
  readonly graceMs: number;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Counts what was found and done. */
  readonly count: (event: { readonly found: string; readonly did: Did }) => void;
}
export type Did = 'seen' | Repair['did'] | 'failed' | 'left_unknown';

const AT_ONCE = 4;
/** The list of the server lags behind. */
const LIST_OVERLAP_MS = 60_000;
/** Resets with the messages; the next one is without them. */
const RESETS_WITH_MESSAGES = { diverged: 2, other: 1 } as const satisfies Record<Stopped['why'], number>;
/** A history that does not replay never will, so it is reset sooner. Other failures can be temporary, for example if a worker is starved. */
const DIVERGED_GRACE_MS = 10_000;
/** Multiples of the grace period. */
const STUCK_GRACES = 5;
const OVERDUE_GRACES = 12;
const UNKNOWN_GRACES = 2;
/** More stuck workflows than this at once are a broken deployment (R3). */
const MAX_STUCK = 20;

interface Found {
  readonly changeId: string;
  readonly problem: Problem;
  /** The review has ended, but its workflow has not. */
  readonly afterEnd: boolean;
}

interface Sighting {
  readonly key: string;
  readonly since: number;
}

export class Reconciler {
  readonly #sightings = new Map<string, Sighting>();
  readonly #notBefore = new Map<string, number>();
  readonly #afterEnd = new AfterEnd();
  #cursor = '';
  #listedAt = Date.now();

  constructor(readonly options: ReconcilerOptions) {}

  /** Resolves with the number of reviews that it looked at; null if another committer holds the lock. */
  pass(): Promise<number | null> {
    const { db, temporal, reviewQueue, graceMs, logger } = this.options;
    return db.transaction(async (tx) => {
      if (!(await tryLock(tx))) return null;
      const listed = await this.#suspects();
      const reviews = await this.#chosen([...listed.failing, ...listed.ended]);
      const ended = await this.#afterEnd.next(db, listed.ended);
      const looked = new Set(reviews.map(({ changeId }) => changeId));
      for (const changeId of this.#sightings.keys())
        if (!looked.has(changeId) && !this.#afterEnd.has(changeId)) this.#sightings.delete(changeId);
      const found: Found[] = [];
      const keep = (changeId: string, problem: Problem | null, afterEnd: boolean): void => {
        if (problem === null) this.#sightings.delete(changeId);
        else found.push({ changeId, problem, afterEnd });
      };
      await inParallel(reviews, async (review) => keep(review.changeId, await this.#look(review), false));
      await inParallel(ended, async (changeId) => keep(changeId, await this.#lookAfterEnd(changeId), true));
      const workersAlive = found.length > 0 && (await hasPollers(temporal, reviewQueue, Math.max(graceMs, 120_000)));
      const stuck = found.filter(({ problem }) => problem.stuck).length;
      if (stuck > MAX_STUCK)
        logger.error(
          { stuck },
          'Many workflows fail their task: check the review worker. They are not ended meanwhile',
        );
      for (const each of found) await this.#repair(each, { workersAlive, systemic: stuck > MAX_STUCK });
      return reviews.length;
    });
  }

  async #chosen(listed: readonly string[]): Promise<readonly OpenReview[]> {
    const { db } = this.options;
    const next = await openAfter(db, this.#cursor);
    this.#cursor = next.length < MAX_REVIEWS_PER_PASS ? '' : (next.at(-1)?.changeId ?? '');
    const first = await openAmong(db, [...this.#sightings.keys(), ...listed]);
    const chosen = new Map([...first, ...next].map((review) => [review.changeId, review]));
    return [...chosen.values()];
  }

  /** Empty if the server cannot list them: the round over all open reviews goes on. */
  async #suspects(): Promise<Suspects> {
    const { temporal, logger } = this.options;
    const since = this.#listedAt;
    this.#listedAt = Date.now();
    try {
      return await suspects(temporal, new Date(since - LIST_OVERLAP_MS));
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

  async #lookAfterEnd(changeId: string): Promise<Problem | null> {
    const seen = await this.#observe(changeId);
    if (seen === null) return null;
    if (seen.state !== 'running') this.#afterEnd.forget(changeId);
    return problemAfterEnd(seen);
  }

  /** Null if the server cannot say. */
  async #observe(changeId: string): Promise<Observation | null> {
    const { temporal, logger } = this.options;
    try {
      return await observe(temporal, changeId);
    } catch (error) {
      logger.warn({ changeId, error: String(error) }, 'A workflow could not be described');
      return null;
    }
  }

  async #repair(
    { changeId, problem, afterEnd }: Found,
    { workersAlive, systemic }: { readonly workersAlive: boolean; readonly systemic: boolean },
  ): Promise<void> {
    const { graceMs, logger, count } = this.options;
    const age = this.#ageOf(changeId, problem);
    const wait = problem.stuck ? Math.min(graceMs, DIVERGED_GRACE_MS) : graceMs;
    if (age < wait || Date.now() < (this.#notBefore.get(changeId) ?? 0)) return;
    if ((problem.stuck || problem.kind === 'overdue') && !workersAlive) return;
    try {
      if (problem.stuck && (await this.#reset(changeId, problem, age))) return;
      if (problem.stuck && (systemic || age < STUCK_GRACES * graceMs)) return;
      if (afterEnd) await this.#endWorkflow(changeId, problem);
      else await this.#end(changeId, problem);
    } catch (error) {
      count({ found: problem.kind, did: 'failed' });
      this.#notBefore.set(changeId, Date.now() + UNKNOWN_GRACES * graceMs);
      logger.error({ changeId, found: problem.kind, error: String(error) }, 'A review could not be repaired');
    }
  }

  #ageOf(changeId: string, problem: Problem): number {
    const now = Date.now();
    const sighting = this.#sightings.get(changeId);
    if (sighting?.key === problem.key) return now - sighting.since;
    this.#sightings.set(changeId, { key: problem.key, since: now });
    this.options.count({ found: problem.kind, did: 'seen' });
    const facts = { changeId, found: problem.kind, runId: problem.runId };
    this.options.logger.warn(facts, `A review has a problem: ${problem.what}`);
    return 0;
  }

  /** True if the run was reset, or may be later. False if it was reset as often as can help, or has no point to reset to. */
  async #reset(changeId: string, problem: Problem, age: number): Promise<boolean> {
    const { temporal, deps, count, logger, graceMs } = this.options;
    const { runId, what } = problem;
    if (runId === null) return false;
    const earlier = resetsOf(await deps.ledger.readKinds(changeId, ['repaired'])).filter(
      (reset) => reset.runId !== runId,
    );
    const stopped = await stoppedBy(temporal, changeId, runId);
    if (stopped.why === 'other' && age < graceMs) return true;
    const withMessages = earlier.length < RESETS_WITH_MESSAGES[stopped.why];
    if (earlier.some((reset) => !reset.withMessages)) return false;
    const point = resetPoint(stopped);
    if (point === null) return false;
    const explanation = `${what}; reset to event ${point}${withMessages ? '' : ' without later messages'}`;
    // First, so that no repair is without its row. A second attempt after a crash resets the same run once.
    await recordRepair(deps, changeId, { ...repairOf(problem, 'reset', explanation), point, withMessages });
    const newRun = await resetTo(temporal, changeId, runId, point, withMessages);
    count({ found: problem.kind, did: 'reset' });
    logger.warn({ changeId, runId: problem.runId, newRun }, 'A workflow that failed its task was reset');
    return true;
  }

  async #end(changeId: string, problem: Problem): Promise<void> {
    const { deps, count, graceMs, logger } = this.options;
    const result = await endLostReview(deps, changeId, repairOf(problem, 'ended', problem.what));
    const known = result.state !== 'EFFECT_UNKNOWN' && result.state !== 'REFUSED';
    count({ found: problem.kind, did: known ? 'ended' : 'left_unknown' });
    logger.warn({ changeId, found: problem.kind, state: result.state }, 'The review of a lost workflow was settled');
    // The target cannot tell: ask again later. `countersign list` shows it, and an operator can resolve it.
    if (!known) this.#notBefore.set(changeId, Date.now() + UNKNOWN_GRACES * graceMs);
    else await this.#terminate(changeId, problem);
  }

  async #endWorkflow(changeId: string, problem: Problem): Promise<void> {
    const { deps, count, logger } = this.options;
    await recordRepair(deps, changeId, repairOf(problem, 'terminated', problem.what));
    await this.#terminate(changeId, problem);
    count({ found: problem.kind, did: 'terminated' });
    logger.warn({ changeId, found: problem.kind }, 'The workflow of a review that had ended was terminated');
  }

  /** Whatever still runs with this id can no longer change anything; ended, it does not mislead. */
  async #terminate(changeId: string, { runId, kind }: Problem): Promise<void> {
    this.#sightings.delete(changeId);
    this.#notBefore.delete(changeId);
    if (!['task_fails', 'overdue', 'other_type', 'other_queue'].includes(kind) || runId === null) return;
    const handle = this.options.temporal.workflow.getHandle(changeId, runId);
    await handle.terminate('Countersign: the review ended in the ledger');
  }
}

function repairOf(problem: Problem, did: Repair['did'], explanation: string): Repair {
  const { kind, runId, workflowType } = problem;
  return { found: kind, did, explanation, runId, workflowType };
}

/** Released at the end of the transaction, also if the process crashes. */
async function tryLock(tx: Queryable): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended('countersign reconciler', 2)) as locked`,
  );
  return rows[0]?.locked === true;
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}
