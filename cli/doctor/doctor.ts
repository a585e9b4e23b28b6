import { join } from 'node:path';
import { messageOf } from '../../client/errors';
import { ConfigError, type Env } from '../../workers/config';
import { readEnvFile } from '../../workers/env-file';
import { localClient, stateDirOf, type LocalClient } from '../../workers/local-client';
import type { ProcessName } from '../../workers/start-process';
import { PROCESS_NAMES } from '../processes';
import { failed, type Check } from './check';
import { checkDatabase } from './database';
import { checkGateway } from './gateway';
import { checkNode, checkStateDir, checkVariables } from './machine';
import { checkDelivery } from './notices';
import { checkPayloadKeys } from './payload-keys';
import { checkPolicies, checkFreezes, checkTrust } from './policies';
import { readProcesses } from './processes';
import { checkRegistered } from './registered';
import { checkTargets } from './targets';
import { checkTemporal } from './temporal';

export type { Check } from './check';

export interface DoctorOptions {
  /** Leaves out what only running processes can show: pollers, gateway, checkpoints. */
  readonly offline: boolean;
  /** Whether people get enrolment links afterwards. */
  readonly inviting?: boolean;
  /** Replays the histories of reviews too. */
  readonly replay?: boolean;
  /** The build whose histories are replayed. Default: COUNTERSIGN_BUILD_ID of the environment, or those without a build id. */
  readonly build?: string | undefined;
}

/** Checks everything that a review needs, without changing anything. Each check has a timeout and says what to do. */
export async function doctor(env: Env, options: DoctorOptions): Promise<readonly Check[]> {
  const checks: Check[] = [];
  /** A check that throws counts as failed, and the others still run. */
  const add = async (name: string, check: () => Promise<readonly Check[]>): Promise<void> => {
    try {
      checks.push(...(await check()));
    } catch (error) {
      checks.push(failed(name, messageOf(error), 'Correct that, or what the checks above name, and run it again'));
    }
  };
  const stateDir = stateDirOf(env);
  const envs: (readonly [ProcessName, Env])[] = [];
  checks.push(checkNode(), ...checkStateDir(stateDir), ...checkVariables('environment', env));
  for (const name of PROCESS_NAMES)
    await add(`process ${name}`, async () => {
      const path = join(stateDir, `${name}.env`);
      const values = readEnvFile(path);
      envs.push([name, values]);
      return checkVariables(path, values);
    });
  const { local, trusts, problem } = settingsOf(env);
  if (problem !== null) checks.push(problem);
  if (local === null) return checks;
  const trust = trusts ? checkTrust(local) : null;
  const { checks: processChecks, processes } = readProcesses(envs, trust?.ok === true ? local : null);
  checks.push(...processChecks, ...(trust === null ? [] : [trust]));
  await add('Temporal server', () => checkTemporal(local, env, options));
  const database = await checkDatabase(local, processes, options);
  checks.push(...database.checks);
  const targets = await checkTargets(env);
  checks.push(...targets.checks);
  // A check above says why the rest cannot be read or verified.
  if (!database.readable || !trusts) return checks;
  await add('keys', () => checkRegistered(local, processes, options.inviting ?? false));
  await add('payload keys', () => checkPayloadKeys(local, processes));
  const notices = Object.fromEntries(envs)['review']?.['COUNTERSIGN_NOTICES_FILE'];
  await add('policy', () => checkPolicies(local, targets.names, notices));
  await add('notices', () => checkDelivery(processes));
  await add('freezes', () => checkFreezes(local));
  if (!options.offline) checks.push(...(await checkGateway(local)));
  if (options.replay === true)
    await add('histories', async () => {
      // Loaded on demand, because it loads the worker of the SDK.
      const { checkHistories } = await import('./histories.js');
      return [await checkHistories(local, env, options.build)];
    });
  return checks;
}

/** The settings of the CLI; without trusted keys if only the trust file cannot be read, and null if others are missing. */
function settingsOf(env: Env): {
  readonly local: LocalClient | null;
  readonly trusts: boolean;
  readonly problem: Check | null;
} {
  try {
    return { local: localClient(env), trusts: true, problem: null };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const fix =
      'Correct what it names. Without a configuration, run "countersign dev" in another terminal, or "countersign init"';
    const { COUNTERSIGN_TRUST_FILE: trustFile, ...others } = env;
    const local = trustFile === undefined ? null : settingsOf(others).local;
    return { local, trusts: false, problem: failed('configuration', error.message, fix) };
  }
}
