import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from '@temporalio/client';
import { GRPC } from '../../client/temporal-errors';
import { SEARCH_ATTRIBUTES } from '../../policy/contracts/search-attributes';
import { starterBundle } from '../../source-tools/starter-bundle';
import { publicKeyOf, type OperatorKey } from '../../signing/operator-key';
import { createWhole } from '../../signing/whole-file';
import { asRole } from '../../storage/database/role-url';
import { compileAll } from '../../workers/compile';
import { ConfigError, readTrustFile, type Env, type Trust } from '../../workers/config';
import { CLI_ENV_FILE, readEnvFile, withCliEnv } from '../../workers/env-file';
import { registerSearchAttributes } from '../../workers/register-search-attributes';
import { withConnection } from '../../workers/temporal';
import { createDatabase } from '../../storage/database/create-database';
import { assertCanSign } from '../key-files';
import { extensionsOfEnv } from '../policy/bundles';
import { oneAtATime, prepareSchema, rolePasswords, type RolePasswords } from './database';
import { invite, type Invitation, type Invited } from './enrollment-links';
import { ROLES_WITH_FILES, writeEnvFiles } from './env-files';
import { naming } from './naming';
import { operatorKey, readPublicKey, serviceKeys, type KeyOnDisk, type ServiceKeys } from './keys';
import { privateDirectory, writePrivate } from '../private-files';
import { registerAll } from './registrations';
import { assertSeparateOperatorKey, type InitRequest } from './request';
import { knownTargets, prepareTargets } from './targets';

export interface Step {
  readonly what: string;
  /** False if it existed already. */
  readonly changed: boolean;
}

export interface Initialized {
  readonly steps: readonly Step[];
  /** The file with the starter policy, if no policy is published yet. */
  readonly policyToPublish: string | null;
  /**
   * Makes links for people who have no key yet. The last step, whose result is printed at once: each link contains a private key that
   * is not stored.
   */
  readonly invite: () => Promise<Invited>;
  /** The environment of the CLI for this directory. */
  readonly settings: Env;
}

/**
 * Makes everything that the processes need. Checks all input first; then each file is written whole, and before the server
 * is changed, so that a repeated run continues with the same passwords. Idempotent.
 */
export async function initialize(
  shellEnv: Env,
  request: InitRequest,
  log: (text: string) => void,
): Promise<Initialized> {
  const env = { ...withCliEnv(request.dir, shellEnv), COUNTERSIGN_STATE_DIR: request.dir };
  const input = await checkedInput(env, request);
  const steps: Step[] = [];
  const step = (what: string, changed: boolean): void => void steps.push({ what, changed });

  log(`Connecting to Temporal at ${request.temporalAddress} and to the database`);
  return await withConnection({ ...env, TEMPORAL_ADDRESS: request.temporalAddress }, async (connection) => {
    await assertNamespace(connection, request.namespace);
    if (await naming('--database-url', () => createDatabase(request.databaseUrl)))
      step('the Countersign database', true);
    return await oneAtATime(request.databaseUrl, async (admin) => {
      privateDirectory(request.dir);
      const operator = operatorKey(env, request.operatorKey);
      const keys = serviceKeys(request);
      keySteps(operator, keys, step);
      const trust = writeTrust(request.dir, operator, keys.commit);
      assertCanSign(trust.operators, operator.key, '--operator-key');
      step('trust.json', trust.made);

      const passwords = await rolePasswords(admin, request);
      const plain = Object.fromEntries(ROLES_WITH_FILES.map((role) => [role, passwords[role].password])) as Record<
        keyof RolePasswords,
        string
      >;
      const written = writeEnvFiles({ request, shellEnv, keys, passwords: plain, judgeKey: input.judgeKey });
      step('environment files: review, judge, commit, gateway, cli', written.length > 0);
      await prepareSchema(request, passwords);
      step(
        'schema, roles and grants',
        Object.values(passwords).some(({ set }) => set),
      );

      const names = request.targets.map(({ name }) => name).join(', ');
      step(`targets: ${names}`, await prepareTargets(request));

      log('Registering search attributes, which takes some seconds on a new namespace');
      const { added } = await registerSearchAttributes(connection, request.namespace, SEARCH_ATTRIBUTES);
      step(`search attributes of namespace ${request.namespace}`, added.length > 0);

      const operatorUrl = asRole(request.databaseUrl, 'cs_operator', plain.cs_operator);
      const trusted = { operator: operator.key, trustedOperators: trust.operators };
      const done = await registerAll({ ...input, request, operatorUrl, ...trusted, keys });
      step(`registered keys: ${done.registered + done.known}`, done.registered > 0);
      if (done.revision !== null) step(`policy revision ${done.revision.revision}`, done.revision.published);
      return {
        steps,
        policyToPublish: done.anyPolicy ? null : starterPolicy(request, step),
        invite: () => invite({ ...invitationOf(request), operatorUrl, ...trusted }),
        settings: { ...readEnvFile(join(request.dir, CLI_ENV_FILE)), COUNTERSIGN_STATE_DIR: request.dir },
      };
    });
  });
}

/** Reads and checks every file that was named, before anything is changed. */
async function checkedInput(env: Env, request: InitRequest) {
  assertSeparateOperatorKey(request.dir, request.operatorKey);
  if (request.targets.length === 0 && knownTargets(request.dir).size === 0)
    throw new ConfigError('--target is missing: name at least one database that agents may change');
  const people = new Map(
    request.persons.flatMap(({ name, publicKeyFile }) =>
      publicKeyFile === null ? [] : [[name, readPublicKey(publicKeyFile)] as const],
    ),
  );
  const extensions = await extensionsOfEnv(env);
  const policyText = request.policy === null ? null : readText(request.policy, '--policy');
  if (policyText !== null) compileAll(policyText, extensions);
  const { keyFile } = request.judge;
  return {
    people,
    extensions,
    policyText,
    judgeKey: keyFile === null ? null : readText(keyFile, '--judge-key-file').trim(),
  };
}

function invitationOf(request: InitRequest): Pick<Invitation, 'persons' | 'tenant' | 'publicUrl'> {
  const { dir, gatewayPort, tenant } = request;
  // At which the gateway of this directory expects people.
  const set = readEnvFile(join(dir, 'gateway.env'))['COUNTERSIGN_PUBLIC_URL'];
  const publicUrl = new URL(set ?? `http://localhost:${gatewayPort}`).origin;
  const persons = request.persons.filter(({ publicKeyFile }) => publicKeyFile === null).map(({ name }) => name);
  return { persons, tenant, publicUrl };
}

function readText(path: string, flag: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${flag}: ${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

async function assertNamespace(connection: Connection, namespace: string): Promise<void> {
  try {
    await connection.workflowService.describeNamespace({ namespace });
  } catch (error) {
    if ((error as { code?: number }).code !== GRPC.NOT_FOUND) throw error;
    throw new ConfigError(
      `Temporal has no namespace ${namespace}; run: temporal operator namespace create -n ${namespace} --retention 30d`,
      { cause: error },
    );
  }
}

function keySteps(operator: KeyOnDisk, keys: ServiceKeys, step: (what: string, changed: boolean) => void): void {
  step(`operator key ${operator.path}`, operator.made);
  for (const { path, made } of [keys.review, keys.judge, keys.commit, ...keys.agents]) step(`key ${path}`, made);
}

/** Throws ConfigError if the file exists and trusts other keys: trusted keys never change silently. */
function writeTrust(
  dir: string,
  operator: KeyOnDisk,
  committer: KeyOnDisk,
): { readonly made: boolean; readonly operators: readonly OperatorKey[] } {
  const path = join(dir, 'trust.json');
  const trust: Trust = { operators: [operator.key.publicKey], committers: [committer.key.publicKey] };
  if (!existsSync(path))
    return { made: writePrivate(path, `${JSON.stringify(trust, null, 2)}\n`), operators: trust.operators };
  const found = readTrustFile(path);
  for (const [kind, key] of [
    ['operators', operator.key],
    ['committers', committer.key],
  ] as const)
    if (!found[kind].map(publicKeyOf).includes(key.publicKey))
      throw new ConfigError(
        `${path}: its ${kind} do not include ${key.publicKey}; give the key of the first run, or add this one to the file`,
      );
  return { made: false, operators: found.operators };
}

/** Writes policy.yaml if it does not exist. */
function starterPolicy(request: InitRequest, step: (what: string, changed: boolean) => void): string {
  const path = join(request.dir, 'policy.yaml');
  const changed = !existsSync(path);
  if (changed && request.persons.length === 0)
    throw new ConfigError('--person is missing: name at least one approver, or give --policy');
  const text = starterBundle('SQLDryRun', {
    targets: request.targets.map(({ name }) => name),
    members: request.persons.map(({ name }) => name),
    development: false,
  });
  if (changed) createWhole(path, text);
  step(`starter policy ${path}, not published`, changed);
  return path;
}
