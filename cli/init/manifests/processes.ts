import { join } from 'node:path';
import { readEnvFile } from '../../../workers/env-file';
import { ENV_SCHEMAS, type EnvReader } from '../../../workers/process-env';
import { knownTargets } from '../targets';

/** One process, as the file of its settings describes it. */
export interface DeployedProcess {
  readonly name: string;
  /** Entry point below the compiled package. */
  readonly script: string;
  readonly title: string;
  readonly envFile: string;
  readonly env: Readonly<Record<string, string>>;
  /** Files that its settings name: key, trust, targets, encryption keys, prices, extension modules. */
  readonly files: readonly string[];
  /** Repositories that the committer writes. */
  readonly writes: readonly string[];
  /** Of the gateway, which answers `/healthz` and `/readyz`. */
  readonly port: number | null;
}

/** Variables whose value is a path. */
export const NAMES_FILE = /_(FILE|PATH)$/;

const PROCESSES = [
  ['review', 'review', 'review worker'],
  ['judge', 'judge', 'judge worker'],
  ['commit', 'committer', 'committer'],
  ['gateway', 'gateway', 'gateway'],
] as const satisfies readonly (readonly [string, EnvReader, string])[];

/** The processes of a directory of `init`. What each of them reads follows from the table of configuration. */
export function deployedProcesses(dir: string): readonly DeployedProcess[] {
  return PROCESSES.map(([name, reader, title]) => {
    const envFile = join(dir, `${name}.env`);
    const env = readEnvFile(envFile);
    const known = [
      ...Object.keys(ENV_SCHEMAS[reader].shape),
      ...Object.keys(env).filter((each) => each.startsWith('TEMPORAL_TLS_')),
    ];
    const named = known.filter((variable) => NAMES_FILE.test(variable));
    const extensions = (env['COUNTERSIGN_EXTENSIONS'] ?? '').split(',').map((path) => path.trim());
    return {
      name,
      title,
      envFile,
      env,
      script: `dist/workers/${name}.js`,
      files: [
        ...named.flatMap((variable) => env[variable] ?? []),
        ...extensions.filter((path) => path.startsWith('/')),
      ],
      writes: name === 'commit' ? repositories(dir) : [],
      port: name === 'gateway' ? Number(env['COUNTERSIGN_GATEWAY_PORT'] ?? 8077) : null,
    };
  });
}

function repositories(dir: string): readonly string[] {
  return [...knownTargets(dir).values()].flatMap((target) => ('git' in target ? [target.git.repository] : []));
}
