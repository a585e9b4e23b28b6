import { existsSync, readFileSync } from 'node:fs';
import { startDev } from '../../dev/start';
import type { PlanKey } from '../../policy/bundle/plan-keys';
import { starterBundle } from '../../source-tools/starter-bundle';
import type { Env } from '../../workers/config';
import { stateDirOf } from '../../workers/local-client';
import { devTargets } from './dev-targets';

const BUNDLE_FILE = 'countersign.policy.yaml';

/** What a developer needs to use the servers. `targets`: the URL of an administrator of each database; `keys`: a folder. */
export interface DevFacts {
  readonly temporal: string;
  readonly ui: string;
  readonly gateway: string;
  readonly inbox: string;
  readonly targets: Readonly<Record<string, string>>;
  readonly keys: string;
}

/**
 * Runs servers, workers and gateway until Ctrl-C. The policy is `countersign.policy.yaml` of this folder, or the starter bundle. Each of
 * its targets gets a database. Throws ConfigError before anything is started if the policy is not a bundle with targets.
 */
export async function runDev(
  env: Env,
  options: { readonly port: number | undefined; readonly rotate: boolean },
  log: (text: string) => void,
  started: (facts: DevFacts, accepted: PlanKey) => void,
): Promise<void> {
  const stateDir = stateDirOf(env);
  const hasBundle = existsSync(BUNDLE_FILE);
  log(
    hasBundle
      ? `Policy: ${BUNDLE_FILE} of this folder`
      : `Policy: the starter bundle (no ${BUNDLE_FILE} in this folder)`,
  );
  const bundleText = hasBundle ? readFileSync(BUNDLE_FILE, 'utf8') : starterBundle('SQLDryRun');
  const { names, example, notApplied } = devTargets(bundleText);
  for (const { target, sourceTool } of notApplied)
    log(`${target}: a ${sourceTool} can be submitted but not applied here, because each target is a database`);
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseUrl = 'https://api.openai.com/v1' } = env;
  if (apiKey === undefined)
    log('OPENAI_API_KEY is not set: the judge, if the policy has one, cannot answer, and a person is asked instead');
  const { runtime, setup, gatewayUrl, inboxUrl } = await startDev({
    stateDir,
    say: log,
    bundleText,
    targets: names.map((name) => ({ name })),
    extensions: env['COUNTERSIGN_EXTENSIONS'] ?? '',
    rotate: options.rotate,
    ...(apiKey === undefined ? {} : { judge: { baseUrl, apiKey } }),
    ...(options.port === undefined ? {} : { gatewayPort: options.port }),
  });
  const facts = {
    temporal: runtime.temporalAddress,
    ui: runtime.uiUrl ?? '',
    gateway: gatewayUrl,
    inbox: inboxUrl,
    targets: setup.targetAdminUrls,
    keys: `${runtime.stateDir}/keys`,
  };
  started(facts, example);
  // On a signal the runtime stops everything, also during the start, and ends this process.
  await new Promise<never>(() => {});
}
