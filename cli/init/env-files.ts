import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Role } from '../../storage/database/roles';
import { CommitEnv, GatewayEnv, JudgeEnv, readEnv, ReviewEnv, type Env } from '../../workers/config';
import { CLI_ENV_FILE, formatEnvFile, readEnvFile } from '../../workers/env-file';
import { CliEnv } from '../../workers/process-env';
import { asRole } from '../../storage/database/role-url';
import { writePrivate } from '../private-files';
import { FIRST_HEALTH_PORT, type InitRequest } from './request';

/** Roles with a password in the directory, each with the file and the variable that has its URL. */
const ROLE_FILES = {
  cs_review: ['review.env', 'COUNTERSIGN_DATABASE_URL'],
  cs_judge: ['judge.env', 'COUNTERSIGN_DATABASE_URL'],
  cs_commit: ['commit.env', 'COUNTERSIGN_DATABASE_URL'],
  cs_gateway: ['gateway.env', 'COUNTERSIGN_DATABASE_URL'],
  cs_operator: [CLI_ENV_FILE, 'COUNTERSIGN_OPERATOR_DATABASE_URL'],
} as const satisfies Partial<Record<Role, readonly [string, string]>>;
export type RoleWithFile = keyof typeof ROLE_FILES;
export const ROLES_WITH_FILES = Object.keys(ROLE_FILES) as RoleWithFile[];

/** The password that an earlier run wrote. */
export function knownPassword(dir: string, role: RoleWithFile): string | undefined {
  const [file, variable] = ROLE_FILES[role];
  const url = readEnvFile(join(dir, file))[variable];
  return url === undefined ? undefined : decodeURIComponent(new URL(url).password) || undefined;
}

/** If these are set in the shell of `init`, all processes get them, since they must agree on them. */
const SHARED = /^(COUNTERSIGN_(QUEUE_SUFFIX|EXTENSIONS|PAYLOAD_KEYS_FILE)|TEMPORAL_(API_KEY|TLS.*))$/;

const SCHEMAS = {
  'review.env': ReviewEnv,
  'judge.env': JudgeEnv,
  'commit.env': CommitEnv,
  'gateway.env': GatewayEnv,
  [CLI_ENV_FILE]: CliEnv,
} as const;

export interface EnvFileFacts {
  readonly request: InitRequest;
  /** Only variables of the shell. */
  readonly shellEnv: Env;
  readonly keys: Readonly<Record<'review' | 'judge' | 'commit', { readonly path: string }>>;
  readonly passwords: Readonly<Record<RoleWithFile, string>>;
  readonly judgeKey: string | null;
}

/** Health addresses are on loopback, at ports above that of the gateway. Files of an earlier run keep their addresses. */
function healthAddresses(gatewayPort: number): Readonly<Record<string, Values>> {
  return Object.fromEntries(
    ['review.env', 'judge.env', 'commit.env'].map((file, i) => [
      file,
      { COUNTERSIGN_HEALTH_ADDRESS: `127.0.0.1:${gatewayPort + FIRST_HEALTH_PORT + i}` },
    ]),
  );
}

/**
 * Writes one environment file for each process and one for the CLI. Variables that a person added are kept, and a file that already
 * has all values is not touched. Returns the files that changed. Throws ConfigError, before the first is written, if a process would
 * not accept its file.
 */
export function writeEnvFiles(facts: EnvFileFacts): readonly string[] {
  const { dir, gatewayPort } = facts.request;
  const health = healthAddresses(gatewayPort);
  const ofCli = shared(readEnvFile(join(dir, CLI_ENV_FILE)));
  const files = Object.entries(contents(facts)).map(([file, values]) => {
    const path = join(dir, file);
    const found = readEnvFile(path);
    // Only for a file that was lost: a process may have another kind of credentials, with which those of the CLI would conflict.
    const inherited = Object.keys(found).length === 0 ? ofCli : {};
    const all = { ...inherited, ...values, ...health[file], ...found, ...values };
    readEnv(SCHEMAS[file as keyof typeof SCHEMAS], all);
    return { path, text: formatEnvFile(all), same: isDeepStrictEqual(found, all) };
  });
  return files.filter(({ path, text, same }) => !same && writePrivate(path, text)).map(({ path }) => path);
}

function shared(env: Env): Values {
  return Object.fromEntries(
    Object.entries(env).filter((e): e is [string, string] => SHARED.test(e[0]) && e[1] !== undefined),
  );
}

function contents({
  request,
  shellEnv,
  keys,
  passwords,
  judgeKey,
}: EnvFileFacts): Record<keyof typeof SCHEMAS, Values> {
  const { dir, judge } = request;
  const url = (role: RoleWithFile): string => asRole(request.databaseUrl, role, passwords[role]);
  // For the gateway, and for the links that `keys enroll` prints.
  const publicUrl = request.publicUrl ?? readEnvFile(join(dir, 'gateway.env'))['COUNTERSIGN_PUBLIC_URL'];
  const inbox: Values = publicUrl === undefined ? {} : { COUNTERSIGN_PUBLIC_URL: publicUrl };
  const common: Values = {
    TEMPORAL_ADDRESS: request.temporalAddress,
    TEMPORAL_NAMESPACE: request.namespace,
    COUNTERSIGN_TRUST_FILE: join(dir, 'trust.json'),
    ...shared(shellEnv),
  };
  return {
    'review.env': { ...common, COUNTERSIGN_DATABASE_URL: url('cs_review'), COUNTERSIGN_KEY_FILE: keys.review.path },
    'judge.env': {
      ...common,
      COUNTERSIGN_DATABASE_URL: url('cs_judge'),
      COUNTERSIGN_KEY_FILE: keys.judge.path,
      ...(judge.url === null ? {} : { OPENAI_BASE_URL: judge.url }),
      ...(judgeKey === null ? {} : { OPENAI_API_KEY: judgeKey }),
    },
    'commit.env': {
      ...common,
      COUNTERSIGN_DATABASE_URL: url('cs_commit'),
      COUNTERSIGN_KEY_FILE: keys.commit.path,
      COUNTERSIGN_TARGETS_FILE: join(dir, 'targets.json'),
    },
    'gateway.env': {
      ...common,
      COUNTERSIGN_DATABASE_URL: url('cs_gateway'),
      COUNTERSIGN_GATEWAY_PORT: String(request.gatewayPort),
      ...inbox,
    },
    [CLI_ENV_FILE]: {
      ...common,
      COUNTERSIGN_DATABASE_URL: url('cs_gateway'),
      COUNTERSIGN_OPERATOR_DATABASE_URL: url('cs_operator'),
      COUNTERSIGN_TARGETS_FILE: join(dir, 'targets.json'),
      COUNTERSIGN_GATEWAY_URL: `http://127.0.0.1:${request.gatewayPort}`,
      COUNTERSIGN_TENANT: request.tenant,
      ...inbox,
    },
  };
}

type Values = Readonly<Record<string, string>>;
