import type { Command } from 'commander';
import type { KeyKind } from '../../policy/evidence/predicates';
import { required, runs, text, type Cli, type Options } from '../command';
import { ExitCode } from '../exit-codes';
import { line, styled } from '../printer';
import { UsageError } from '../usage-error';

const KINDS: readonly KeyKind[] = ['service', 'approver', 'attestor', 'committer', 'operator'];
const SUBJECTS = ['person', 'agent', 'service'] as const;

export function register(program: Command, cli: Cli): void {
  const keys = program.command('keys').description('make, register, list and revoke signing keys');

  const create = keys
    .command('new')
    .description('make a key pair; the private key stays in its file')
    .option('--kind <kind>', KINDS.join(', '))
    .option('--subject <who>', 'person:alice, agent:shopbot or service:ci')
    .option('--on-behalf-of <person>', 'for service keys: the person who requests')
    .option('--out <file>', 'where the key goes; never overwritten')
    .option('--operator-key <file>', 'registers the key at once');
  runs(create, cli, async (io, _args, options) => {
    const admin = await io.deps.keys();
    const made = await admin.create({
      kind: kindOf(options),
      subject: subjectOf(required(options, 'subject', '--subject')),
      onBehalfOf: text(options, 'onBehalfOf') ?? null,
      out: required(options, 'out', '--out'),
      operatorKey: text(options, 'operatorKey') ?? null,
    });
    if (io.json) io.out.json(made);
    else io.out.tabbed([made.keyId, made.publicKey, made.file]);
    if (!made.registered)
      io.err.line(
        'not registered yet: it counts once an operator has signed it into the registry (`keys register` with its public key)',
      );
    return ExitCode.Ok;
  });

  const foreign = keys
    .command('register')
    .description('register a public key; its holder keeps the private one')
    .argument('<public-key>', 'as `keys new` prints it')
    .option('--kind <kind>', KINDS.join(', '))
    .option('--subject <who>', 'person:alice, agent:shopbot or service:ci')
    .option('--on-behalf-of <person>', 'for service keys: the person who requests')
    .option('--operator-key <file>', 'the operator key that signs it');
  runs(foreign, cli, async (io, [publicKey = ''], options) => {
    if (!/^[0-9a-f]{64}$/.test(publicKey))
      throw new UsageError(`public key: expected 64 lower-case hex digits, got "${publicKey}"`);
    const key = {
      publicKey,
      kind: kindOf(options),
      subject: subjectOf(required(options, 'subject', '--subject')),
      onBehalfOf: text(options, 'onBehalfOf') ?? null,
      operatorKey: required(options, 'operatorKey', '--operator-key'),
    };
    const { keyId } = await (await io.deps.keys()).register(key);
    if (io.json) io.out.json({ keyId, registered: true });
    else io.out.line(line`${keyId}  registered`);
    return ExitCode.Ok;
  });

  const list = keys.command('list').description('list the registry');
  runs(list, cli, async (io) => {
    const registered = await (await io.deps.keys()).list();
    if (io.json) io.out.json({ keys: registered });
    for (const key of io.json ? [] : registered) {
      const subject = `${key.subject.type}:${key.subject.id}`;
      const state = key.revokedAt === null ? 'active' : `revoked ${key.revokedAt}`;
      if (io.deps.stdout.isTTY !== true)
        io.out.tabbed([key.keyId, key.kind, subject, key.onBehalfOf ?? '-', key.demo ? 'demo' : '-', state]);
      else
        io.out.line(
          line`${styled('bold', key.keyId)}  ${key.kind}  ${subject}${key.onBehalfOf === null ? '' : ` for ${key.onBehalfOf}`}${key.demo ? styled('yellow', '  demo') : ''}  ${styled(key.revokedAt === null ? 'green' : 'red', state)}`,
        );
    }
    return ExitCode.Ok;
  });

  const revoke = keys
    .command('revoke')
    .description('revoke a key, at once and for good')
    .argument('<key-id>', 'as `keys list` prints it')
    .option('--reason <text>', 'why')
    .option('--operator-key <file>', 'the operator key that signs it');
  runs(revoke, cli, async (io, [keyId = ''], options) => {
    if (!/^[0-9a-f]{64}$/.test(keyId))
      throw new UsageError(`key id: expected 64 lower-case hex digits, got "${keyId}"`);
    const revocation = {
      keyId,
      reason: required(options, 'reason', '--reason'),
      operatorKey: required(options, 'operatorKey', '--operator-key'),
    };
    await (await io.deps.keys()).revoke(revocation);
    if (io.json) io.out.json({ keyId, revoked: true });
    else io.out.line(line`${keyId}  revoked`);
    return ExitCode.Ok;
  });
}

function kindOf(options: Options): KeyKind {
  const given = required(options, 'kind', '--kind');
  const kind = KINDS.find((known) => known === given);
  if (kind === undefined) throw new UsageError(`--kind: expected one of ${KINDS.join(', ')}, got "${given}"`);
  return kind;
}

function subjectOf(given: string): { type: (typeof SUBJECTS)[number]; id: string } {
  const colon = given.indexOf(':');
  const type = SUBJECTS.find((known) => known === given.slice(0, colon));
  const id = given.slice(colon + 1);
  if (type === undefined || id === '')
    throw new UsageError(`--subject: expected person:<id>, agent:<id> or service:<id>, got "${given}"`);
  return { type, id };
}
