import type { Env } from '../../workers/config';
import type { LocalClient } from '../../workers/local-client';
import type { Replayed } from '../../workers/replay/replay-histories';
import { ownBuild, replayReviews } from '../../workers/replay/replay-reviews';
import { reviewsToReplay } from '../../workers/replay/reviews-to-replay';
import { withTemporal } from '../temporal';
import { failed, passed, type Check } from './check';
import { withDoctorDatabase } from './doctor-database';

const NAME = 'histories';
/** Of more reviews, all open ones are replayed, and a sample of the closed ones. */
const MAX = 5_000;
const MAX_NAMED = 10;

/** Replays the histories of open and recently closed reviews with the workflow code of this version, and writes nothing. */
export async function checkHistories(local: LocalClient, env: Env, build = ownBuild(env)): Promise<Check> {
  const { changeIds, of } = await withDoctorDatabase(local.databaseUrl, (db) =>
    reviewsToReplay(db, { max: MAX, everyOpen: true }),
  );
  const summary = new Summary(of, of - changeIds.length);
  await withTemporal(env, local, async (client) => {
    for await (const replayed of replayReviews(env, client, changeIds, build)) summary.add(replayed);
  });
  return summary.check();
}

/** Counts the results of a replay. A replay that replayed no history does not pass. */
export class Summary {
  #replays = 0;
  readonly #skipped = new Map<string, number>();
  readonly #bad: string[] = [];
  #damaged = 0;

  /** `of`: number of reviews; `unsampled`: number of those that were not chosen. */
  constructor(
    readonly of: number,
    readonly unsampled: number,
  ) {}

  add({ changeId, runId, result, why }: Replayed): void {
    switch (result) {
      case 'replays':
        this.#replays++;
        return;
      case 'skipped':
        this.#skipped.set(why, (this.#skipped.get(why) ?? 0) + 1);
        return;
      case 'damaged':
      case 'failed':
        if (result === 'damaged') this.#damaged++;
        this.#bad.push(`${changeId.slice(0, 12)} (run ${runId ?? 'unknown'}): ${why.split('\n')[0] ?? ''}`);
        return;
      default:
        return result satisfies never;
    }
  }

  check(): Check {
    const skipped = [...this.#skipped].map(([why, n]) => `${n} skipped (${why})`);
    const detail = [
      `${this.#replays} of ${this.of} reviews replayed`,
      ...firstOf(skipped),
      ...(this.unsampled === 0 ? [] : [`${this.unsampled} closed reviews not in the sample`]),
    ].join(', ');
    if (this.#bad.length > 0)
      return failed(
        NAME,
        `${detail}, ${this.#bad.length} do not replay: ${firstOf(this.#bad).join('; ')}`,
        this.#damaged > 0
          ? 'With a new version: do not deploy it without COUNTERSIGN_BUILD_ID. Otherwise the reconciler resets each review whose workflow cannot go on'
          : 'Correct what it names, for example add a missing payload key, and run it again',
      );
    return this.#replays > 0 || this.of === 0
      ? passed(NAME, detail)
      : failed(
          NAME,
          detail,
          'Name the build whose histories are to be replayed with "countersign doctor --replay --build ID", and check TEMPORAL_NAMESPACE',
        );
  }
}

function firstOf(texts: readonly string[]): readonly string[] {
  return texts.length <= MAX_NAMED ? texts : [...texts.slice(0, MAX_NAMED), '…'];
}
