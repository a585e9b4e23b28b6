import type { Env } from '../../workers/config';
import type { LocalClient } from '../../workers/local-client';
import { replayReviews } from '../../workers/replay/replay-reviews';
import { reviewsToReplay } from '../../workers/replay/reviews-to-replay';
import { withTemporal } from '../temporal';
import { failed, messageOf, passed, plural, type Check } from './check';
import { withDoctorDatabase } from './database';

const NAME = 'histories';
const MAX = 5_000;
const MAX_NAMED = 10;

/** Replays the histories of open and recently closed reviews with the workflow code of this version, and writes nothing. */
export async function checkHistories(local: LocalClient, env: Env): Promise<Check> {
  const counts = { replays: 0, damaged: 0, skipped: 0, failed: 0 };
  const bad: string[] = [];
  try {
    const changeIds = await withDoctorDatabase(local.databaseUrl, (db) => reviewsToReplay(db, MAX));
    await withTemporal(env, local, async (client) => {
      for await (const { changeId, runId, result, why } of replayReviews(env, client, changeIds)) {
        counts[result]++;
        if (result === 'damaged' || result === 'failed')
          bad.push(`${changeId.slice(0, 12)} (run ${runId ?? 'unknown'}): ${why.split('\n')[0] ?? ''}`);
      }
    });
    const left = counts.skipped === 0 ? '' : `, ${counts.skipped} left out (no longer stored, or of another build)`;
    if (bad.length === 0) return passed(NAME, `${plural(counts.replays, 'review')} replayed${left}`);
    const named = [...bad.slice(0, MAX_NAMED), ...(bad.length > MAX_NAMED ? ['…'] : [])].join('; ');
    return failed(
      NAME,
      `${bad.length} of ${bad.length + counts.replays} do not replay${left}: ${named}`,
      'With a new version: do not deploy it without COUNTERSIGN_BUILD_ID. Otherwise the reconciler resets each review whose workflow cannot go on',
    );
  } catch (error) {
    return failed(NAME, messageOf(error), 'Correct what the checks above name, and run it again');
  }
}
