import { messageOf } from '../../client/errors';
import type { LoadedKey } from '../../signing/key-file';
import {
  CommitEnv,
  ConfigError,
  GatewayEnv,
  JudgeEnv,
  readEnv,
  readKey,
  readTrustFile,
  ReviewEnv,
  type Env,
} from '../../workers/config';
import type { Role } from '../../storage/database/roles';
import { failed, passed, type Check } from './check';

export const PROCESS_FILES = ['review.env', 'judge.env', 'commit.env', 'gateway.env'] as const;
type ProcessFile = (typeof PROCESS_FILES)[number];

/** A process whose settings are in the state directory. */
export interface ConfiguredProcess {
  readonly name: string;
  readonly role: Role;
  readonly databaseUrl: string;
  /** Null for the gateway. */
  readonly key: LoadedKey | null;
  readonly env: Env;
}

/** Reads the files of all processes as each process does. Empty if the directory has none. */
export function readProcesses(files: readonly (readonly [ProcessFile, Env])[]): {
  readonly checks: readonly Check[];
  readonly processes: readonly ConfiguredProcess[];
} {
  const checks: Check[] = [];
  const processes: ConfiguredProcess[] = [];
  for (const [file, env] of files) {
    if (Object.keys(env).length === 0) continue;
    const name = `process ${file.replace('.env', '')}`;
    try {
      const read = readProcess(file, env);
      readTrustFile(env['COUNTERSIGN_TRUST_FILE'] ?? '');
      processes.push({ name, env, ...read });
      checks.push(passed(name, `${file} and its files can be read`));
    } catch (error) {
      const fix =
        error instanceof ConfigError ? `Correct ${file}` : 'Correct the file, or run "countersign init" again';
      checks.push(failed(name, messageOf(error), fix));
    }
  }
  return { checks, processes };
}

function readProcess(file: ProcessFile, env: Env): Pick<ConfiguredProcess, 'role' | 'databaseUrl' | 'key'> {
  const withKey = (read: Parameters<typeof readKey>[0] & Url, role: Role, kind: LoadedKey['kind']) => ({
    role,
    databaseUrl: read.COUNTERSIGN_DATABASE_URL,
    key: readKey(read, kind),
  });
  switch (file) {
    case 'review.env':
      return withKey(readEnv(ReviewEnv, env), 'cs_review', 'attestor');
    case 'judge.env':
      return withKey(readEnv(JudgeEnv, env), 'cs_judge', 'attestor');
    case 'commit.env':
      return withKey(readEnv(CommitEnv, env), 'cs_commit', 'committer');
    case 'gateway.env':
      return {
        role: 'cs_gateway',
        databaseUrl: readEnv(GatewayEnv, env).COUNTERSIGN_DATABASE_URL,
        key: null,
      };
    default:
      return file satisfies never;
  }
}

interface Url {
  readonly COUNTERSIGN_DATABASE_URL: string;
}
