import { readEnv, ReviewEnv } from './config';
import { createBreakers } from '../storage/breakers/breakers';
import { startDerivationThreads } from './derivation';
import { main } from './main';
import { assertMailer } from './notices/channels/email';
import { readNotices } from './notices/settings';
import { startNotices } from './notices/start-notices';
import { reviewActivities } from './roles/review';
import { runRole } from './run-role';
import { attestorWith } from './signers';
import { noticeMetrics } from './worker-metrics';

main('review-worker', async (logger) => {
  const env = readEnv(ReviewEnv, process.env);
  const notices = readNotices(env.COUNTERSIGN_NOTICES_FILE);
  if (notices !== null) await assertMailer(notices.channels);
  await runRole({
    queue: 'review',
    keyKind: 'attestor',
    env,
    logger,
    wire({ key, extensions, resources }) {
      const { db, operators } = resources;
      const breakers = env.COUNTERSIGN_BREAKERS === 'on' ? createBreakers({ db, operators }) : null;
      const threads = startDerivationThreads(env.COUNTERSIGN_EXTENSIONS);
      const attestor = attestorWith(key);
      const { ledger, plans, keys } = resources;
      const running =
        notices === null
          ? null
          : startNotices({ db, ledger, plans, keys, settings: notices, logger, count: noticeMetrics() });
      return {
        activities: reviewActivities({ resources, extensions, attestor, breakers, threads }),
        maxCachedWorkflows: env.COUNTERSIGN_MAX_CACHED_REVIEWS,
        async close() {
          await running?.stop();
          await threads.close();
        },
      };
    },
  });
});
