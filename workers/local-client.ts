import { accessSync, constants } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../client/errors';
import { OperatorKeys } from '../signing/operator-key';
import { ConfigError, readTrustFile, type Env } from './config';
import { replaceWhole } from '../signing/whole-file';
import { areOfDatabase, readsFile } from './folder-files';
import { readJson } from './json-file';

/** What `dev` and the demo write to their state directory, so that the CLI needs no configuration there. */
const LocalClient = z.object({
  temporalAddress: z.string(),
  namespace: z.string(),
  /** With the gateway's role: reads, stores bytes, records refusals. */
  databaseUrl: z.string(),
  /** With the operator's role: writes keys and policy. */
  operatorDatabaseUrl: z.string(),
  gatewayUrl: z.string(),
  tenant: z.string(),
  operators: OperatorKeys,
  committers: z.array(z.string()),
  /** The value of COUNTERSIGN_EXTENSIONS with which plans are compiled. */
  extensions: z.string().optional(),
});
export type LocalClient = z.infer<typeof LocalClient>;

const FILE = 'client.json';

export function stateDirOf(env: Env): string {
  return resolve(env['COUNTERSIGN_STATE_DIR'] ?? '.countersign');
}

export function writeLocalClient(stateDir: string, client: LocalClient): void {
  replaceWhole(join(stateDir, FILE), `${JSON.stringify(client, null, 2)}\n`);
}

/** The servers that `countersign dev` started; null if there were none. Throws ConfigError if its file is malformed or of another user. */
export function startedServers(env: Env): LocalClient | null {
  const path = join(stateDirOf(env), FILE);
  return readsFile(env, path) ? readJson(path, LocalClient) : null;
}

/** As `startedServers`, unless the environment names another database. */
function rememberedClient(env: Env): LocalClient | null {
  const found = startedServers(env);
  return areOfDatabase(env, found?.databaseUrl) ? found : null;
}

/** The value of COUNTERSIGN_EXTENSIONS, or with which plans are compiled here. */
export function extensionsSetting(env: Env): string {
  return env['COUNTERSIGN_EXTENSIONS'] ?? rememberedClient(env)?.extensions ?? '';
}

type DatabaseName = 'databaseUrl' | 'operatorDatabaseUrl';

/** As `LocalClient`; a database that is not configured is undefined. */
type KnownSettings = Omit<LocalClient, DatabaseName> & { readonly [Name in DatabaseName]: string | undefined };

/** Settings from the environment (COUNTERSIGN_DATABASE_URL, COUNTERSIGN_TRUST_FILE, …), and otherwise from the state directory. */
export function knownSettings(env: Env): KnownSettings {
  const found = rememberedClient(env);
  const databaseUrl = env['COUNTERSIGN_DATABASE_URL'] ?? found?.databaseUrl;
  const trustFile = env['COUNTERSIGN_TRUST_FILE'];
  const trust = trustFile === undefined ? found : readTrustFile(trustFile);
  return {
    temporalAddress: env['TEMPORAL_ADDRESS'] ?? found?.temporalAddress ?? '127.0.0.1:7233',
    namespace: env['TEMPORAL_NAMESPACE'] ?? found?.namespace ?? 'default',
    databaseUrl,
    operatorDatabaseUrl: env['COUNTERSIGN_OPERATOR_DATABASE_URL'] ?? found?.operatorDatabaseUrl ?? databaseUrl,
    gatewayUrl: env['COUNTERSIGN_GATEWAY_URL'] ?? found?.gatewayUrl ?? '',
    tenant: env['COUNTERSIGN_TENANT'] ?? found?.tenant ?? 'default',
    operators: trust?.operators ?? [],
    committers: trust?.committers ?? [],
    extensions: extensionsSetting(env),
  };
}

/** As `knownSettings`, for commands that use the role of the gateway. Throws ConfigError if no database is configured. */
export function localClient(env: Env): LocalClient {
  const { databaseUrl, ...known } = knownSettings(env);
  if (databaseUrl === undefined) throw noDatabase(env, 'COUNTERSIGN_DATABASE_URL');
  return { ...known, databaseUrl, operatorDatabaseUrl: known.operatorDatabaseUrl ?? databaseUrl };
}

/** The database with the role of the operator, which needs no other role. Throws ConfigError if none is configured. */
export function operatorClient(env: Env): Pick<LocalClient, 'operatorDatabaseUrl' | 'operators'> {
  const { operatorDatabaseUrl, operators } = knownSettings(env);
  if (operatorDatabaseUrl === undefined) throw noDatabase(env, 'COUNTERSIGN_OPERATOR_DATABASE_URL');
  return { operatorDatabaseUrl, operators };
}

function noDatabase(env: Env, variable: string): ConfigError {
  const dir = stateDirOf(env);
  return new ConfigError(
    `This command needs the database, and none is configured: ${unreadable(dir) ?? `no server was started in ${dir}`}, and ${variable} is not set.\n` +
      '  To list, show, answer and submit through a gateway, use "countersign login". Start a server with "countersign dev", or prepare your own servers with "countersign init". COUNTERSIGN_STATE_DIR names its directory.',
  );
}

/** Why the settings in a directory cannot be read; null if they can, or if the directory does not exist. */
function unreadable(dir: string): string | null {
  try {
    accessSync(`${dir}/`, constants.R_OK | constants.X_OK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return `${dir} cannot be read: ${messageOf(error)}`;
  }
  return null;
}
