import { JudgeEnv, readEnv, readPrices } from './config';
import { main } from './main';
import { judgeActivities } from './roles/judge';
import { runRole } from './run-role';
import { attestorWith } from './signers';

main('judge-worker', async (logger) => {
  const env = readEnv(JudgeEnv, process.env);
  const prices = readPrices(env.COUNTERSIGN_JUDGE_PRICES_FILE);
  if (env.OPENAI_API_KEY === undefined)
    logger.warn('OPENAI_API_KEY is not set: the judge cannot answer, and its changes wait for a person');
  const transport = { baseUrl: env.OPENAI_BASE_URL, apiKey: env.OPENAI_API_KEY ?? 'none' };
  await runRole({
    queue: 'judge',
    keyKind: 'attestor',
    env,
    logger,
    wire: ({ key, extensions, resources }) => ({
      activities: judgeActivities({ resources, extensions, attestor: attestorWith(key), key, transport, prices }),
      maxTaskQueueActivitiesPerSecond: env.COUNTERSIGN_JUDGE_REQUESTS_PER_SECOND,
    }),
  });
});
