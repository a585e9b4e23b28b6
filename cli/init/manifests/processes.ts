import { isIPv6 } from 'node:net';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { ConfigError } from '../../../workers/config-error';
import { readEnvFile } from '../../../workers/env-file';
import { noticeSecrets } from '../../../workers/notices/settings';
import { HostAndPort } from '../../../workers/process-env';
import { PROCESS_NAMES, PROCESSES } from '../../processes';
import { knownTargets } from '../targets';
import { namedFiles, targetUrls, type NamedFiles } from './named-files';

/** One process, as the file of its settings describes it. */
export interface DeployedProcess extends NamedFiles {
  readonly name: string;
  /** Entry point below the compiled package. */
  readonly script: string;
  readonly title: string;
  readonly envFile: string;
  readonly env: Readonly<Record<string, string>>;
  /** The secrets among `files`: by path, the relative name by which the file of notices refers to it. */
  readonly noticeSecrets: ReadonlyMap<string, string>;
  /** Its extension modules. */
  readonly modules: readonly string[];
  /** Repositories that the committer writes. */
  readonly writes: readonly string[];
  /** Where it serves `/healthz` and `/readyz`. */
  readonly health: HealthVariable;
}

interface HealthVariable {
  readonly host: string;
  readonly port: number;
  /** Variables with which it serves them at every address of the host. */
  readonly everywhere: Readonly<Record<string, string>>;
}

/** Node reads the settings itself, so that a container has them as a file only. */
export const ENV_FILE_OPTION = '--env-file=';

/** The processes of a directory of `init`. The files that each reads are derived from the schema of its settings. */
export function deployedProcesses(dir: string): readonly DeployedProcess[] {
  return PROCESS_NAMES.map((name) => {
    const { schema, title } = PROCESSES[name];
    const envFile = join(dir, `${name}.env`);
    const env = readEnvFile(envFile);
    const named = namedFiles({
      envFile,
      env,
      variables: Object.keys(schema.shape),
      targets: name === 'commit' ? targetUrls(dir) : null,
    });
    const notices = env['COUNTERSIGN_NOTICES_FILE'];
    const secrets = new Map(
      notices === undefined ? [] : noticeSecrets(notices).map((path) => [resolve(dirname(notices), path), path]),
    );
    const extensions = (env['COUNTERSIGN_EXTENSIONS'] ?? '').split(',').map((path) => path.trim());
    return {
      name,
      title,
      envFile,
      env,
      ...named,
      script: `dist/workers/${name}.js`,
      files: [...named.files, ...secrets.keys()],
      noticeSecrets: secrets,
      modules: extensions.filter((path) => path.startsWith('/')),
      writes: name === 'commit' ? repositories(dir) : [],
      health: name === 'gateway' ? gatewayHealth(env) : workerHealth(env, envFile),
    };
  });
}

function gatewayHealth(env: Readonly<Record<string, string>>): HealthVariable {
  const { COUNTERSIGN_GATEWAY_HOST: host = '127.0.0.1', COUNTERSIGN_GATEWAY_PORT: port = '8077' } = env;
  return { host: urlHost(host), port: Number(port), everywhere: { COUNTERSIGN_GATEWAY_HOST: '0.0.0.0' } };
}

function workerHealth(env: Readonly<Record<string, string>>, envFile: string): HealthVariable {
  const address = env['COUNTERSIGN_HEALTH_ADDRESS'];
  if (address === undefined)
    throw new ConfigError(
      `${envFile}: COUNTERSIGN_HEALTH_ADDRESS is not set, which the health check needs; run "countersign init" again, which sets it`,
    );
  const { hostname, port } = HostAndPort.parse(address);
  return { host: urlHost(hostname), port, everywhere: { COUNTERSIGN_HEALTH_ADDRESS: `0.0.0.0:${port}` } };
}

/** The host of a URL that reaches a server which listens on this address. */
function urlHost(listensOn: string): string {
  if (listensOn === '0.0.0.0') return '127.0.0.1';
  if (listensOn === '::') return '[::1]';
  return isIPv6(listensOn) ? `[${listensOn}]` : listensOn;
}

function repositories(dir: string): readonly string[] {
  return [...knownTargets(dir).values()].flatMap((target) => ('git' in target ? [target.git.repository] : []));
}

/** All files that a process reads. */
export function readable({ files, certificates, modules }: DeployedProcess): readonly string[] {
  return [...files, ...certificates, ...modules];
}

/** Whether a path is in a directory, at any depth. */
export function isInside(dir: string, path: string): boolean {
  const from = relative(dir, path);
  return !from.startsWith('..') && !isAbsolute(from);
}
