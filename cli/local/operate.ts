import { existsSync, readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { migrate } from '../../storage/database/migrate';
import { initTarget } from '../../source-tools/sql/staging/init-target';
import type { Say } from '../deps';
import { starterBundle } from '../../policy/bundle/starter';
import { SEARCH_ATTRIBUTES } from '../../policy/contracts/search-attributes';
import { ConfigError, type Env } from '../../workers/config';
import { asRole } from '../../storage/database/role-url';
import { registerSearchAttributes } from '../../workers/register-search-attributes';
import { localClient, stateDirOf } from '../../workers/local-client';
import { openConnection } from '../../workers/temporal';

const BUNDLE_FILE = 'countersign.policy.yaml';

/** Everything here until Ctrl-C; the policy is `countersign.policy.yaml` of this folder, or the starter bundle. */
export async function dev(
  env: Env,
  options: { readonly port?: number | undefined },
  say: Say,
  started: (facts: Readonly<Record<string, string>>) => void,
): Promise<void> {
  // Loaded here only: no other command needs the embedded servers.
  const { startDev } = require('../../dev/start') as typeof import('../../dev/start');
  const own = existsSync(BUNDLE_FILE);
  say(own ? `Policy: ${BUNDLE_FILE} of this folder` : `Policy: the starter bundle (no ${BUNDLE_FILE} in this folder)`);
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseUrl = 'https://api.openai.com/v1' } = env;
  if (apiKey === undefined)
    say('OPENAI_API_KEY is not set: where the policy has a judge it cannot answer, and a human is asked instead');
  const running = await startDev({
    stateDir: stateDirOf(env),
    say,
    bundleText: own ? readFileSync(BUNDLE_FILE, 'utf8') : starterBundle('SQLDryRun'),
    targets: [{ name: 'dev', database: 'dev', schemas: ['public'] }],
    extensions: env['COUNTERSIGN_EXTENSIONS'] ?? '',
    ...(apiKey === undefined ? {} : { judge: { baseUrl, apiKey } }),
    ...(options.port === undefined ? {} : { gatewayPort: options.port }),
    runtime: { handleSignals: false },
  });
  const { runtime, setup, gatewayUrl } = running;
  started({
    temporal: runtime.temporalAddress,
    ui: runtime.uiUrl ?? '',
    gateway: gatewayUrl,
    target: setup.targetAdminUrls['dev'] ?? '',
    keys: `${runtime.stateDir}/keys`,
  });
  await interrupted();
  say('Stopping');
  await running.stop();
}

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}

/** Search attributes on a Temporal server that exists; the schema where an administrator's URL is given. */
export async function setup(env: Env, say: Say): Promise<{ added: readonly string[]; present: readonly string[] }> {
  const address = env['TEMPORAL_ADDRESS'] ?? localClient(env).temporalAddress;
  const connection = await openConnection({ ...env, TEMPORAL_ADDRESS: address });
  try {
    const done = await registerSearchAttributes(connection, env['TEMPORAL_NAMESPACE'] ?? 'default', SEARCH_ATTRIBUTES);
    const adminUrl = env['COUNTERSIGN_DATABASE_ADMIN_URL'];
    if (adminUrl === undefined) {
      say('COUNTERSIGN_DATABASE_ADMIN_URL is not set: the Countersign database was not touched');
      return done;
    }
    await migrate(adminUrl, { roles: {} });
    say('The Countersign database has the schema and its roles; give each role a password before its process connects');
    return { added: [...done.added, 'schema'], present: done.present };
  } finally {
    await connection.close();
  }
}

/** `COUNTERSIGN_TARGET_ADMIN_URL` names the target's administrator; prints the new credentials once, for the committer's configuration. */
export async function targetInit(
  env: Env,
  target: string,
  options: { readonly dryRun: boolean },
  say: Say,
): Promise<{ done: readonly string[] }> {
  const adminUrl = env['COUNTERSIGN_TARGET_ADMIN_URL'];
  if (adminUrl === undefined)
    throw new ConfigError(
      'COUNTERSIGN_TARGET_ADMIN_URL is not set: expected the URL of a role that may create roles and schemas in the target',
    );
  const schemas = (env['COUNTERSIGN_TARGET_SCHEMAS'] ?? 'public').split(',').map((each) => each.trim());
  const [stageRole, commitRole] = [`countersign_stage_${target}`, `countersign_commit_${target}`];
  if (options.dryRun)
    return {
      done: [
        `would make schema countersign with the marker table`,
        `would make the roles ${stageRole} and ${commitRole}, with rights on ${schemas.join(', ')}`,
      ],
    };
  const passwords = { stage: randomBytes(24).toString('hex'), commit: randomBytes(24).toString('hex') };
  const done = await initTarget(adminUrl, { stageRole, commitRole, passwords, grants: { schemas } });
  say('For the committer alone (COUNTERSIGN_TARGETS_FILE); shown once:');
  const entry = {
    name: target,
    development: false,
    stageUrl: asRole(adminUrl, stageRole, passwords.stage),
    commitUrl: asRole(adminUrl, commitRole, passwords.commit),
  };
  return { done: [...done, JSON.stringify(entry)] };
}
