/** What the reconciler does about a workflow that has a problem, and when (R2 to R10 in reconciler.ts). */
import type { Client } from '@temporalio/client';
import { endLostReview, recordRepair, resetsOf, type Repair } from '../../activities/committer/end-lost-review';
import type { CommitDeps } from '../../activities/committer/commit-deps';
import { MESSAGES } from '../../policy/contracts/messages';
import type { Database } from '../../storage/database/database';
import type { Logger } from '../logger';
import type { Problem } from './problem';
import { resetPoint, resetTo, stoppedBy, type Stopped } from './reset';

/** Each call of the server ends within this time. */
export const CALL_MS = 30_000;
/** Resets with the messages; the next one is without them. */
const RESETS_WITH_MESSAGES = { diverged: 2, other: 1 } as const satisfies Record<Stopped['why'], number>;
const RESETS_COUNT_MS = 24 * 60 * 60_000;
/** Repairs that fail, for example because the committer may not reset; then the review is ended as if resets had not helped. */
const MAX_FAILED = 3;
/**
 * A history that does not replay never will, and a lost result does not return, so these are repaired sooner. Other failures can be
 * temporary, for example if a worker is starved.
 */
const SOON_MS = 10_000;
/**
 * After this time a review ends although nothing polls its queue, which anyone with access to the namespace can choose, and a workflow
 * whose review has ended is terminated although a payload key is missing.
 */
const UNATTENDED_MS = 24 * 60 * 60_000;
/** Multiples of the grace period. */
const STUCK_GRACES = 5;
const UNKNOWN_GRACES = 2;

export interface ReconcilerOptions {
  readonly db: Database;
  readonly deps: CommitDeps;
  readonly temporal: Client;
  readonly graceMs: number;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Counts what was found and done. */
  readonly count: (event: { readonly found: string; readonly did: Did }) => void;
}
export type Did = 'seen' | Repair['did'] | 'failed' | 'left_unknown';

export interface Found {
  readonly changeId: string;
  readonly problem: Problem;
  /** The review has ended, but its workflow has not. */
  readonly afterEnd: boolean;
}

interface Circumstances {
  /** Workers poll the queue of the workflow. */
  readonly workersAlive: boolean;
  readonly manyStuck: boolean;
  readonly manyLost: boolean;
}

interface Sighting {
  readonly key: string;
  readonly since: number;
  /** Repairs of it that failed. */
  failed: number;
}

const UNREADABLE =
  'A workflow that fails its task is encrypted with a payload key that this committer does not have. It is not reset; add the key to COUNTERSIGN_PAYLOAD_KEYS_FILE of every process again, and restart them';

export class Repairs {
  readonly #sightings = new Map<string, Sighting>();
  readonly #notBefore = new Map<string, number>();

  constructor(
    readonly options: ReconcilerOptions,
    readonly lookAgain: (found: Found) => Promise<Problem | null>,
  ) {}

  /** The changes that had a problem when they were last looked at. */
  seen(): Iterable<string> {
    return this.#sightings.keys();
  }

  /** These changes have no problem any more. */
  forget(which: (changeId: string) => boolean): void {
    for (const changeId of this.#sightings.keys()) if (which(changeId)) this.#sightings.delete(changeId);
  }

  async repair(found: Found, { workersAlive, manyStuck, manyLost }: Circumstances): Promise<void> {
    const { changeId, problem, afterEnd } = found;
    const { graceMs, logger, count } = this.options;
    const { nature } = problem;
    const age = this.#ageOf(changeId, problem);
    const wait = nature === 'stuck' || nature === 'behind' ? Math.min(graceMs, SOON_MS) : graceMs;
    if (age < wait || Date.now() < (this.#notBefore.get(changeId) ?? 0)) return;
    if ((nature === 'stuck' || nature === 'behind') && !workersAlive) return;
    if (problem.kind === 'overdue' && !workersAlive && problem.overdueBy < UNATTENDED_MS) return;
    if (nature === 'lost' && manyLost && problem.overdueBy < 0) return;
    try {
      if (nature === 'behind') return await this.#wake(changeId, problem, age);
      if (nature === 'stuck' && (await this.#reset(found, { age, manyStuck }))) return;
      if (nature === 'stuck' && (manyStuck || age < STUCK_GRACES * graceMs)) return;
      if ((await this.lookAgain(found))?.key !== problem.key) return;
      if (afterEnd) await this.#endWorkflow(changeId, problem);
      else await this.#end(changeId, problem);
    } catch (error) {
      const sighting = this.#sightings.get(changeId);
      if (sighting !== undefined) sighting.failed++;
      count({ found: problem.kind, did: 'failed' });
      this.#notBefore.set(changeId, Date.now() + UNKNOWN_GRACES * graceMs);
      logger.error({ changeId, found: problem.kind, error: String(error) }, 'A review could not be repaired');
    }
  }

  #ageOf(changeId: string, problem: Problem): number {
    const now = Date.now();
    const sighting = this.#sightings.get(changeId);
    if (sighting?.key === problem.key) return now - sighting.since;
    this.#sightings.set(changeId, { key: problem.key, since: now, failed: 0 });
    this.options.count({ found: problem.kind, did: 'seen' });
    const facts = { changeId, found: problem.kind, runId: problem.runId };
    this.options.logger.warn(facts, `A review has a problem: ${problem.what}`);
    return 0;
  }

  /** R7. The time to the next signal grows with the age of the problem. */
  async #wake(changeId: string, problem: Problem, age: number): Promise<void> {
    const { temporal, deps, count, logger, graceMs } = this.options;
    this.#notBefore.set(changeId, Date.now() + Math.max(UNKNOWN_GRACES * graceMs, age));
    await recordRepair(deps, changeId, repairOf(problem, 'woken', problem.what));
    const handle = temporal.workflow.getHandle(changeId, problem.runId ?? undefined);
    await temporal.withDeadline(Date.now() + CALL_MS, () => handle.signal(MESSAGES.lookAgain));
    count({ found: problem.kind, did: 'woken' });
    logger.warn({ changeId, runId: problem.runId }, 'A workflow that waits for recorded answers was woken');
  }

  /** True if the run was reset, or may be later. False if it was reset as often as can help, or has no point to reset to. */
  async #reset(
    { changeId, problem, afterEnd }: Found,
    { age, manyStuck }: { readonly age: number; readonly manyStuck: boolean },
  ): Promise<boolean> {
    const { temporal, deps, count, logger, graceMs } = this.options;
    const { kind, runId, what } = problem;
    if (runId === null || (this.#sightings.get(changeId)?.failed ?? 0) >= MAX_FAILED) return false;
    const stopped = await temporal.withDeadline(Date.now() + CALL_MS, () => stoppedBy(temporal, changeId, runId));
    const point = resetPoint(stopped);
    if (stopped.unreadable !== null && stopped.unreadable.eventId < (point ?? Infinity)) {
      this.#notBefore.set(changeId, Date.now() + UNKNOWN_GRACES * graceMs);
      logger.error({ changeId, runId, keyId: stopped.unreadable.keyId }, UNREADABLE);
      return !afterEnd || age < UNATTENDED_MS;
    }
    const earlier = resetsOf(await deps.ledger.readKinds(changeId, ['repaired'])).filter(
      (reset) => reset.runId !== runId && deps.now().getTime() - reset.at < RESETS_COUNT_MS,
    );
    if (earlier.some((reset) => !reset.withMessages)) return false;
    if (stopped.why === 'other' && age < graceMs) return true;
    const withMessages = earlier.length < RESETS_WITH_MESSAGES[stopped.why];
    if (!withMessages && manyStuck) return true;
    if (point === null) return false;
    const explanation = `${what}; reset to event ${point}${withMessages ? '' : ' without later messages'}`;
    // First, so that no repair is without its row. A second attempt after a crash resets the same run once.
    await recordRepair(deps, changeId, { ...repairOf(problem, 'reset', explanation), point, withMessages });
    const newRun = await temporal.withDeadline(Date.now() + CALL_MS, () =>
      resetTo(temporal, changeId, runId, point, withMessages),
    );
    count({ found: kind, did: 'reset' });
    logger.warn({ changeId, runId, newRun }, 'A workflow that failed its task was reset');
    return true;
  }

  async #end(changeId: string, problem: Problem): Promise<void> {
    const { deps, count, graceMs, logger } = this.options;
    const result = await endLostReview(deps, changeId, repairOf(problem, 'ended', problem.what));
    const known = result.state !== 'EFFECT_UNKNOWN';
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
    const { temporal } = this.options;
    const handle = temporal.workflow.getHandle(changeId, runId);
    await temporal.withDeadline(Date.now() + CALL_MS, () =>
      handle.terminate('Countersign: the review ended in the ledger'),
    );
  }
}

function repairOf(problem: Problem, did: Repair['did'], explanation: string): Repair {
  const { kind, runId, workflowType } = problem;
  return { found: kind, did, explanation, runId, workflowType };
}
