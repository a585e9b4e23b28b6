import type { Command } from 'commander';
import { addAction, announcedGateway, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { readInput } from '../files';
import { isGiven, requiredOption, textOption, type Options } from '../options';
import { line, styled } from '../printer';
import { UsageError } from '../usage-error';

/** The commands for published revisions, which need a server. */
export function registerRevisions(policy: Command, cli: Cli): void {
  const publish = policy
    .command('publish')
    .description('sign a bundle and make it the newest revision')
    .argument('<file>', 'the bundle')
    .option('--operator-key <file>', "an operator's key; default: that of the login");
  addAction(publish, cli, publishRevision);

  const revoke = policy
    .command('revoke')
    .description('end the use of a revision for good: its open reviews are rolled back as policy_moved')
    .argument('<revision>', 'its number')
    .option('--reason <text>', 'why; recorded in the evidence')
    .option('--operator-key <file>', "an operator's key");
  addAction(revoke, cli, revokeRevision);

  const show = policy
    .command('show')
    .description('the published revision in force: number, signer, time and plans')
    .option('--bundle', 'print its YAML instead')
    .option('--operator-key <file>', "for a gateway: an operator's key; default: that of the login");
  addAction(show, cli, showRevision);
}

async function publishRevision(io: Io, [file = '']: readonly string[], options: Options): Promise<ExitCode> {
  const bundleText = await readInput(io, file);
  const { publish } = await io.host.remote.policy();
  const publishing = { bundleText, key: textOption(options, '--operator-key'), now: io.host.now() };
  const { revision, published } = await publish(io.host.env, await announcedGateway(io), publishing);
  if (io.json) io.out.json({ revision, published });
  else io.out.line(line`revision ${revision} ${published ? 'published' : 'is already published'}`);
  return ExitCode.Ok;
}

async function revokeRevision(io: Io, [given = '']: readonly string[], options: Options): Promise<ExitCode> {
  const revision = Number(given);
  if (!/^[1-9][0-9]{0,9}$/.test(given))
    throw new UsageError(`revision: expected its number, such as 3, got "${given}"`);
  const reason = requiredOption(options, '--reason');
  if (reason.length > 500) throw new UsageError(`--reason: expected at most 500 characters, got ${reason.length}`);
  const key = requiredOption(options, '--operator-key');
  const { revoke } = await io.host.remote.policy();
  const { revoked, inForce } = await revoke(io.host.env, { revision, reason }, key);
  if (io.json) io.out.json({ revision, revoked, inForce });
  else {
    io.out.line(line`revision ${revision} ${revoked ? 'revoked' : 'is already revoked'}`);
    io.out.line(inForce === null ? 'no revision is in force: publish one' : line`revision ${inForce} is in force`);
  }
  return ExitCode.Ok;
}

async function showRevision(io: Io, _args: readonly string[], options: Options): Promise<ExitCode> {
  const { newestPublished } = await io.host.remote.policy();
  const { revision, bundleText } = await newestPublished(
    io.host.env,
    await announcedGateway(io),
    textOption(options, '--operator-key'),
  );
  if (io.json) io.out.json({ ...revision, bundleText });
  else if (isGiven(options, '--bundle')) io.out.file(bundleText);
  else {
    const { revision: number, bundleSha, plans, keyId, issuedAt } = revision;
    io.out.line(line`${styled('bold', `revision ${number}`)}  ${issuedAt}  signed by ${keyId}`);
    io.out.line(line`bundle ${bundleSha}`);
    for (const { target, sourceTool, planHash } of plans) io.out.line(line`${target}/${sourceTool}  plan ${planHash}`);
  }
  return ExitCode.Ok;
}
