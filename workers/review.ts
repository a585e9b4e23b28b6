import type { Webhook } from '../activities/review/notify';
import { ConfigError, readEnv, ReviewEnv } from './config';
import { createBreakers } from '../storage/breakers/breakers';
import { startDerivationThreads } from './derivation';
import { main } from './main';
import { reviewActivities } from './roles/review';
import { runRole } from './run-role';
import { attestorWith } from './signers';

main('review-worker', async (logger) => {
  const env = readEnv(ReviewEnv, process.env);
  const webhooks = webhooksOf(env);
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
      return {
        activities: reviewActivities({ resources, extensions, attestor, webhooks, breakers, logger, threads }),
        async close() {
          await threads.close();
        },
      };
    },
  });
});

function webhooksOf(env: {
  readonly COUNTERSIGN_WEBHOOK_URL?: string | undefined;
  readonly COUNTERSIGN_WEBHOOK_SECRET?: string | undefined;
}): ReadonlyMap<string, Webhook> {
  const { COUNTERSIGN_WEBHOOK_URL: url, COUNTERSIGN_WEBHOOK_SECRET: secret } = env;
  if (url === undefined) return new Map();
  if (secret === undefined)
    throw new ConfigError(
      'COUNTERSIGN_WEBHOOK_SECRET is not set: webhooks are always signed. Set it, or unset the URL',
    );
  return new Map([['webhook', { url, secret }]]);
}
