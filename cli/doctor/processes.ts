import { messageOf } from '../../client/errors';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { LoadedKey } from '../../signing/key-file';
import type { OperatorKey } from '../../signing/operator-key';
import type { EvidenceTrust } from '../../signing/verify-evidence';
import type { Role } from '../../storage/database/roles';
import type { KeyRing } from '../../storage/store/preview-cipher';
import { ConfigError, readEnv, readKey, readTrustFile, type Env } from '../../workers/config';
import { payloadKeys } from '../../workers/encryption/key-ring';
import type { ProcessName } from '../../workers/start-process';
import { PROCESSES } from '../processes';
import { failed, passed, type Check } from './check';

/** A process whose settings are in the state directory. */
export interface ConfiguredProcess {
  readonly name: string;
  readonly role: Role;
  readonly databaseUrl: string;
  /** Null for the gateway. */
  readonly key: LoadedKey | null;
  /** Null without COUNTERSIGN_PAYLOAD_KEYS_FILE. */
  readonly payloadKeys: KeyRing | null;
}

/** Reads the files of all processes as each process does. Empty if the directory has none. `trust`: of the CLI, null if it has none. */
export function readProcesses(
  envs: readonly (readonly [ProcessName, Env])[],
  trust: EvidenceTrust | null,
): {
  readonly checks: readonly Check[];
  readonly processes: readonly ConfiguredProcess[];
} {
  const checks: Check[] = [];
  const processes: ConfiguredProcess[] = [];
  for (const [each, env] of envs) {
    if (Object.keys(env).length === 0) continue;
    const [name, file] = [`process ${each}`, `${each}.env`];
    try {
      const process = readProcess(each, env);
      const own = readTrustFile(env['COUNTERSIGN_TRUST_FILE'] ?? '');
      processes.push({ name, ...process });
      checks.push(
        trust === null || isSameTrust(own, trust)
          ? passed(name, `${file} and its files can be read`)
          : failed(
              name,
              'COUNTERSIGN_TRUST_FILE: lists other keys than the trust file of the CLI',
              'Give all processes and the CLI the same trust file, and restart the processes',
            ),
      );
    } catch (error) {
      const fix =
        error instanceof ConfigError ? `Correct ${file}` : 'Correct the file, or run "countersign init" again';
      checks.push(failed(name, messageOf(error), fix));
    }
  }
  return { checks, processes };
}

function isSameTrust(one: EvidenceTrust, other: EvidenceTrust): boolean {
  const keysOf = (keys: readonly OperatorKey[]): string =>
    [...new Set(keys.map((key) => canonicalJson(key)))].toSorted().join();
  return keysOf(one.operators) === keysOf(other.operators) && keysOf(one.committers) === keysOf(other.committers);
}

function readProcess(name: ProcessName, env: Env): Omit<ConfiguredProcess, 'name'> {
  const { schema, role, keyKind } = PROCESSES[name];
  const read = readEnv(schema, env);
  const key = keyKind !== null && 'COUNTERSIGN_KEY_FILE' in read ? readKey(read, keyKind) : null;
  return { role, databaseUrl: read.COUNTERSIGN_DATABASE_URL, key, payloadKeys: payloadKeys(env) };
}
