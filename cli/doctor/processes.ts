import { messageOf } from '../../client/errors';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { LoadedKey } from '../../signing/key-file';
import type { OperatorKey } from '../../signing/operator-key';
import type { EvidenceTrust } from '../../signing/verify-evidence';
import type { Role } from '../../storage/database/roles';
import type { KeyRing } from '../../storage/store/preview-cipher';
import { ConfigError, readEnv, readKey, readTrustFile, type Env } from '../../workers/config';
import { payloadKeys } from '../../workers/encryption/key-ring';
import { connectConfig } from '../../workers/temporal';
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

/** What the CLI and all processes must have in common. */
interface Common {
  /** Null if the CLI has none. */
  readonly trust: EvidenceTrust | null;
  readonly namespace: string;
  readonly queueSuffix: string;
}

/** Reads the files of all processes as each process does. Empty if the directory has none. `cli`: the settings of the CLI. */
export function readProcesses(
  envs: readonly (readonly [ProcessName, Env])[],
  cli: Common,
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
      const trust = readTrustFile(env['COUNTERSIGN_TRUST_FILE'] ?? '');
      processes.push({ name, ...process });
      checks.push(differenceFrom(cli, name, env, trust) ?? passed(name, `${file} and its files can be read`));
    } catch (error) {
      const fix =
        error instanceof ConfigError ? `Correct ${file}` : 'Correct the file, or run "countersign init" again';
      checks.push(failed(name, messageOf(error), fix));
    }
  }
  return { checks, processes };
}

function differenceFrom(cli: Common, name: string, env: Env, trust: EvidenceTrust): Check | null {
  const own = {
    TEMPORAL_NAMESPACE: connectConfig(env).namespace ?? 'default',
    COUNTERSIGN_QUEUE_SUFFIX: env['COUNTERSIGN_QUEUE_SUFFIX'] ?? '',
  };
  const expected = { TEMPORAL_NAMESPACE: cli.namespace, COUNTERSIGN_QUEUE_SUFFIX: cli.queueSuffix };
  if (cli.trust !== null && !isSameTrust(trust, cli.trust))
    return failed(
      name,
      'COUNTERSIGN_TRUST_FILE: lists other keys than the trust file of the CLI',
      'Give all processes and the CLI the same trust file, and restart the processes',
    );
  for (const variable of ['TEMPORAL_NAMESPACE', 'COUNTERSIGN_QUEUE_SUFFIX'] as const)
    if (own[variable] !== expected[variable])
      return failed(
        name,
        `${variable}: "${own[variable]}", but "${expected[variable]}" in the CLI: it does not see the same reviews`,
        'Give all processes and the CLI the same value, and restart the processes',
      );
  return null;
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
