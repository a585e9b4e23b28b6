import { resolve } from 'node:path';
import type { Command } from 'commander';
import { CountersignError, messageOf } from '../../client/errors';
import type { RegisteredKey } from '../../policy/evidence/key-registry';
import { ANY_TENANT } from '../../policy/evidence/predicates';
import { addAction, announcedGateway, sayNote, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { requiredOption, textOption, type Options } from '../options';
import { line, styled } from '../printer';
import { UsageError } from '../usage-error';

export function register(program: Command, cli: Cli): void {
  const login = program
    .command('login')
    .description('use a gateway from now on, without database or Temporal')
    .argument('<url>', 'the address of the gateway')
    .option('--key <file>', 'your key; it stays in this file')
    .option('--trust <file>', 'public keys of operators and committers, from an operator')
    .option('--tenant <name>', 'tenant; needed if the key may act in several');
  addAction(login, cli, logIn);

  const logout = program.command('logout').description('forget the gateway, the key file and the trust roots');
  addAction(logout, cli, logOut);

  const whoami = program.command('whoami').description('key, person, rights and tenants as an operator signed them');
  addAction(whoami, cli, showKey);
}

async function logIn(io: Io, [url = '']: readonly string[], options: Options): Promise<ExitCode> {
  const { env, shellEnv } = io.host;
  const keyFile = resolve(requiredOption(options, '--key'));
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new UsageError(`url: expected an http or https address, got "${url}"`);
  const { readTrustFile } = await import('../../workers/config.js');
  const trust = readTrustFile(textOption(options, '--trust') ?? trustFileOf(env));
  const gateway = await io.host.remote.gateway();
  const given = textOption(options, '--tenant');
  // The tenant is not sent for the key.
  const key = await gateway.keyAtGateway(env, { url, keyFile, trust, tenant: given ?? 'default' });
  const tenant = tenantOf(key, given);
  const { writeLogin } = await import('./login-file.js');
  const file = writeLogin(shellEnv, { url, tenant, keyFile, operators: trust.operators, committers: trust.committers });
  if (io.json) io.out.json({ ...shown(key), url, tenant, file });
  else printKey(io, key, url, tenant);
  await sayIfUnused(io);
  return ExitCode.Ok;
}

/** The login is stored, also if other settings of this folder are wrong. */
async function sayIfUnused(io: Io): Promise<void> {
  const { placeOf } = await import('./place.js');
  try {
    const { note } = placeOf(io.host);
    if (note !== null) sayNote(io, `a command here ${note}`);
  } catch (error) {
    sayNote(io, `a command here fails: ${messageOf(error)}`);
  }
}

function trustFileOf(env: Io['host']['env']): string {
  const file = env['COUNTERSIGN_TRUST_FILE'];
  if (file === undefined) throw new UsageError('--trust is missing: nothing that the gateway sends could be verified');
  return file;
}

function tenantOf({ keyId, tenants }: RegisteredKey, given: string | undefined): string {
  const anyTenant = tenants.includes(ANY_TENANT);
  const [only, ...more] = tenants;
  const tenant = given ?? (anyTenant || more.length > 0 ? undefined : only);
  if (tenant === undefined)
    throw new UsageError(
      `--tenant is missing: key ${keyId} may act in ${anyTenant ? 'every tenant' : tenants.join(', ')}`,
    );
  if (anyTenant || tenants.includes(tenant)) return tenant;
  throw new CountersignError(
    'not_eligible',
    `Key ${keyId} may not act for tenant "${tenant}", only for ${tenants.join(', ')}`,
  );
}

async function logOut(io: Io): Promise<ExitCode> {
  const { removeLogin } = await import('./login-file.js');
  const removed = removeLogin(io.host.shellEnv);
  if (io.json) io.out.json({ removed });
  else io.out.line(removed ? 'logged out' : 'there was no login');
  return ExitCode.Ok;
}

async function showKey(io: Io): Promise<ExitCode> {
  const settings = await announcedGateway(io);
  if (settings === null)
    throw new UsageError(
      'commands here use no gateway: log in with "countersign login", or set COUNTERSIGN_GATEWAY_URL',
    );
  const key = await (await io.host.remote.gateway()).keyAtGateway(io.host.env, settings);
  const { url, tenant } = settings;
  if (io.json) io.out.json({ ...shown(key), url, tenant });
  else printKey(io, key, url, tenant);
  return ExitCode.Ok;
}

function shown({ keyId, kind, subject, onBehalfOf, tenants, rights, demo }: RegisteredKey): object {
  return { keyId, kind, subject, onBehalfOf, tenants, rights, demo };
}

function printKey(io: Io, key: RegisteredKey, url: string, tenant: string): void {
  const { keyId, kind, subject, onBehalfOf, tenants, rights, demo } = key;
  const rows = [
    ['gateway', url],
    ['tenant', tenant],
    ['key', `${keyId}, ${kind}${demo ? ', for development only' : ''}`],
    ['subject', `${subject.type}:${subject.id}${onBehalfOf === null ? '' : ` for person:${onBehalfOf}`}`],
    ['rights', `${rights.join(', ')} in ${tenants.includes(ANY_TENANT) ? 'every tenant' : tenants.join(', ')}`],
  ] as const;
  for (const [name, value] of rows) io.out.line(line`${styled('bold', name.padEnd(8))} ${value}`);
}
