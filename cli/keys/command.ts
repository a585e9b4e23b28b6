import type { Command } from 'commander';
import type { RegisteredKey } from '../../policy/evidence/key-registry';
import { KeyKind, KeyRight } from '../../policy/evidence/predicates';
import { addAction, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { hexArgument, listOption, requiredOption, subjectId, textOption, type Options } from '../options';
import { line, styled } from '../printer';
import { UsageError } from '../usage-error';
import { RIGHTS_BY_KIND } from '../../signing/registry-entry';
import { registerEnroll } from './enroll-command';
import type { KeyHolder } from './registry';
import { tenantsOption } from './tenants-option';

const KINDS = KeyKind.options;
const SUBJECTS = ['person', 'agent', 'service'] as const;

export function register(program: Command, cli: Cli): void {
  const keys = program.command('keys').description('make, enrol, register, list and revoke keys');

  const create = keys.command('new').description('make a key pair; the private key stays in its file');
  withHolderOptions(create)
    .option('--out <file>', 'where the key goes; never overwritten')
    .option('--operator-key <file>', 'registers the key at once');
  addAction(create, cli, createKey);

  const register = keys
    .command('register')
    .description('register a public key; its holder keeps the private one')
    .argument('<public-key>', 'as `keys new` prints it');
  withHolderOptions(register).option('--operator-key <file>', 'the operator key that signs it');
  addAction(register, cli, registerKey);

  registerEnroll(keys, cli);

  addAction(keys.command('list').description('list the registry'), cli, listKeys);

  const revoke = keys
    .command('revoke')
    .description('revoke a key, at once and permanently')
    .argument('<key-id>', 'as `keys list` prints it')
    .option('--reason <text>', 'why')
    .option('--operator-key <file>', 'the operator key that signs it');
  addAction(revoke, cli, revokeKey);
}

function withHolderOptions(command: Command): Command {
  return command
    .option('--kind <kind>', KINDS.join(', '))
    .option('--subject <who>', 'person:alice, agent:shopbot or service:ci')
    .option('--on-behalf-of <person>', 'for service keys: the person who requests')
    .option('--tenant <names>', 'where the key may act, separated by commas')
    .option('--rights <list>', 'default: all of the kind');
}

async function createKey(io: Io, _args: readonly string[], options: Options): Promise<ExitCode> {
  const holder = holderOptions(options);
  const out = requiredOption(options, '--out');
  const keys = await io.host.remote.keys();
  const created = await keys.createKey(io.host.env, holder, out, textOption(options, '--operator-key') ?? null);
  if (io.json) io.out.json(created);
  else io.out.tabbed([created.keyId, created.publicKey, created.file]);
  if (!created.registered)
    io.err.line(
      'not registered yet: the key is not accepted until an operator registers its public key (`keys register`)',
    );
  return ExitCode.Ok;
}

async function registerKey(io: Io, [value = '']: readonly string[], options: Options): Promise<ExitCode> {
  const publicKey = hexArgument(value, 'public key');
  const holder = holderOptions(options);
  const operatorKey = requiredOption(options, '--operator-key');
  const keyId = await (await io.host.remote.keys()).registerKey(io.host.env, holder, publicKey, operatorKey);
  if (io.json) io.out.json({ keyId, registered: true });
  else io.out.line(line`${keyId}  registered`);
  return ExitCode.Ok;
}

async function listKeys(io: Io): Promise<ExitCode> {
  const keys = await (await io.host.remote.keys()).listKeys(io.host.env);
  if (io.json) io.out.json({ keys });
  else for (const key of keys) printKey(io, key);
  return ExitCode.Ok;
}

function printKey(io: Io, key: RegisteredKey): void {
  const subject = `${key.subject.type}:${key.subject.id}`;
  const kind = 'passkey' in key ? `${key.kind} (passkey)` : key.kind;
  const state = key.revokedAt === null ? 'active' : `revoked ${key.revokedAt}`;
  const grant = key.rights.length === 0 ? '-' : `${key.rights.join(',')} in ${key.tenants.join(',')}`;
  if (io.host.stdout.isTTY !== true) {
    io.out.tabbed([key.keyId, kind, subject, key.onBehalfOf ?? '-', grant, key.demo ? 'demo' : '-', state]);
    return;
  }
  const onBehalfOf = key.onBehalfOf === null ? '' : ` for ${key.onBehalfOf}`;
  const demo = key.demo ? styled('yellow', '  demo') : '';
  const styledState = styled(key.revokedAt === null ? 'green' : 'red', state);
  io.out.line(line`${styled('bold', key.keyId)}  ${kind}  ${subject}${onBehalfOf}  ${grant}${demo}  ${styledState}`);
}

async function revokeKey(io: Io, [value = '']: readonly string[], options: Options): Promise<ExitCode> {
  const keyId = hexArgument(value, 'key id');
  const reason = requiredOption(options, '--reason');
  const operatorKey = requiredOption(options, '--operator-key');
  const trusted = await (await io.host.remote.keys()).revokeKey(io.host.env, keyId, reason, operatorKey);
  if (trusted)
    io.err.line(
      line`${styled('yellow', 'the gateway refuses this key from now on, but what it signs still counts, because the trust file lists it')}: give it a time there, "until"; docs/operate.md says how`,
    );
  if (io.json) io.out.json({ keyId, revoked: true });
  else io.out.line(line`${keyId}  revoked`);
  return ExitCode.Ok;
}

function holderOptions(options: Options): KeyHolder {
  const kind = kindOption(options);
  const subject = subjectOption(options);
  if (kind === 'approver' && subject.type !== 'person')
    throw new UsageError(
      `--subject: expected person:<id>, since only people approve, got "${subject.type}:${subject.id}"`,
    );
  return {
    kind,
    subject,
    onBehalfOf: onBehalfOfOption(options),
    ...grantOptions(options, kind),
  };
}

function kindOption(options: Options): KeyKind {
  const given = requiredOption(options, '--kind');
  const kind = KINDS.find((known) => known === given);
  if (kind === undefined) throw new UsageError(`--kind: expected one of ${KINDS.join(', ')}, got "${given}"`);
  return kind;
}

function subjectOption(options: Options): KeyHolder['subject'] {
  const given = requiredOption(options, '--subject');
  const colon = given.indexOf(':');
  const type = SUBJECTS.find((known) => known === given.slice(0, colon));
  if (type === undefined)
    throw new UsageError(`--subject: expected person:<id>, agent:<id> or service:<id>, got "${given}"`);
  return { type, id: subjectId(given.slice(colon + 1), '--subject') };
}

/** Accepts `person:alice` as well as `alice`. Any other prefix is an error. */
function onBehalfOfOption(options: Options): string | null {
  const given = textOption(options, '--on-behalf-of');
  return given === undefined ? null : subjectId(given.replace(/^person:/, ''), '--on-behalf-of');
}

function grantOptions(options: Options, kind: KeyKind): Pick<KeyHolder, 'tenants' | 'rights'> {
  const tenants = tenantsOption(options);
  const rights = listOption(options, '--rights');
  const needed = kind === 'service' || kind === 'approver';
  if (tenants === undefined) {
    if (needed) throw new UsageError(`--tenant is missing: name the tenants in which this ${kind} key may act`);
    if (rights !== undefined) throw new UsageError('--rights: expected --tenant beside it');
    return { tenants: [], rights: [] };
  }
  const parsed = KeyRight.array().safeParse(rights ?? RIGHTS_BY_KIND[kind]);
  if (!parsed.success)
    throw new UsageError(`--rights: expected some of ${KeyRight.options.join(', ')}, got "${rights?.join(',') ?? ''}"`);
  return { tenants: [...tenants], rights: [...new Set(parsed.data)] };
}
