import { join } from 'node:path';
import { ConfigError, type Env } from '../../workers/config';
import { readEnvFile } from '../../workers/env-file';
import { localClient, stateDirOf, type LocalClient } from '../../workers/local-client';
import { failed, type Check } from './check';
import { checkDatabase } from './database';
import { checkGateway } from './gateway';
import { checkMachine, checkVariables } from './machine';
import { checkPolicies, checkFreezes, checkTrust } from './policies';
import { PROCESS_FILES, readProcesses } from './processes';
import { checkRegistered } from './registered';
import { checkTargets } from './targets';
import { checkTemporal } from './temporal';

export type { Check } from './check';

export interface DoctorOptions {
  /** Leaves out what only running processes can show: pollers, gateway, checkpoints. */
  readonly offline: boolean;
  /** Replays the histories of reviews too. */
  readonly replay?: boolean;
  /** The build whose histories are replayed. Default: COUNTERSIGN_BUILD_ID of the environment, or those without a build id. */
  readonly build?: string | undefined;
}

/** Checks everything that a review needs, without changing anything. Each check has a timeout and says what to do. */
export async function doctor(env: Env, options: DoctorOptions): Promise<readonly Check[]> {
  const stateDir = stateDirOf(env);
  const files = PROCESS_FILES.map((file) => [file, readEnvFile(join(stateDir, file))] as const);
  const basic = [
    ...(await checkMachine(env)),
    ...checkVariables('environment', env),
    ...files.flatMap(([file, values]) => checkVariables(join(stateDir, file), values)),
  ];
  let local: LocalClient;
  try {
    local = localClient(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [
      ...basic,
      failed('configuration', error.message, 'Run "countersign dev" in another terminal, or "countersign init"'),
    ];
  }
  const { checks: processChecks, processes } = readProcesses(files);
  const database = await checkDatabase(local, processes, options);
  const targets = await checkTargets(env);
  const checks = [
    ...basic,
    ...processChecks,
    checkTrust(local),
    ...(await checkTemporal(local, env, options)),
    ...database.checks,
    ...targets.checks,
  ];
  // The database check says why the rest cannot be read.
  if (!database.readable) return checks;
  return [
    ...checks,
    ...(await checkRegistered(local, processes)),
    ...(await checkPolicies(local, targets.names)),
    ...(await checkFreezes(local)),
    ...(options.offline ? [] : await checkGateway(local)),
    ...(options.replay === true ? [await replayed(local, env, options.build)] : []),
  ];
}

/** Loaded only if asked for: it has the worker of the SDK. */
async function replayed(local: LocalClient, env: Env, build: string | undefined): Promise<Check> {
  const { checkHistories } = await import('./histories.js');
  return await checkHistories(local, env, build);
}
