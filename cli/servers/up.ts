import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../workers/config';
import { readEnvFile } from '../../workers/env-file';
import { onStopSignal } from '../../workers/on-stop-signal';
import { startProcess } from '../../workers/start-process';
import { PROCESS_NAMES } from '../processes';
import { keepRunning } from './keep-running';

/** Runs the four processes of a directory that `countersign init` made, until Ctrl-C. A process that crashes is started again. */
export async function up(
  dir: string,
  log: (text: string) => void,
  started: (addresses: { readonly gateway: string; readonly inbox: string }) => void,
  until = new Promise<void>((resolve) => void onStopSignal(() => resolve())),
): Promise<void> {
  const envs = Object.fromEntries(PROCESS_NAMES.map((name) => [name, readEnvFile(join(dir, `${name}.env`))]));
  const missing = PROCESS_NAMES.filter((name) => Object.keys(envs[name] ?? {}).length === 0);
  if (missing.length > 0)
    throw new ConfigError(`${dir}: ${missing[0]}.env is missing or empty; make it with: countersign init ${dir}`);
  const logDir = join(dir, 'logs');
  mkdirSync(logDir, { recursive: true, mode: 0o700 });
  const running = await keepRunning(PROCESS_NAMES, {
    start: async (name) => {
      const process = await startProcess(name, envs[name] ?? {}, logDir, log);
      log(`${name} runs as process ${process.pid}`);
      return process;
    },
    log,
  });
  const {
    COUNTERSIGN_GATEWAY_HOST: host = '127.0.0.1',
    COUNTERSIGN_GATEWAY_PORT: port = '8077',
    COUNTERSIGN_PUBLIC_URL: publicUrl = `http://localhost:${port}`,
  } = envs['gateway'] ?? {};
  log(`Logs in ${logDir}. Ctrl-C stops all processes`);
  started({ gateway: `http://${host}:${port}`, inbox: new URL('/inbox/', publicUrl).href });
  await until;
  log('Stopping');
  await running.stop();
}
