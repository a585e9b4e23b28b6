import { resolve } from 'node:path';
import type { Command } from 'commander';
import { withCliEnv } from '../../workers/env-file';
import { addAction, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import { choiceOption, isGiven, type Options } from '../options';
import { line, styled } from '../printer';
import { printChecks } from '../doctor/check';
import { revokeLink } from '../keys/revoke-hint';
import { shellQuote } from '../shell-quote';
import type { Initialized } from './initialize';
import type { ManifestKind } from './manifests/write-manifests';
import type { InitRequest } from './request';
import { requestOf } from './request-of';

const MANIFEST_KINDS = ['compose', 'systemd', 'kubernetes'] as const satisfies readonly ManifestKind[];

export function register(program: Command, cli: Cli): void {
  const init = program
    .command('init')
    .description('prepare your own servers: keys, roles, grants, one directory')
    .argument('[dir]', 'for keys and settings (default: .countersign)')
    .option('--database-url <url>', 'Countersign database, as its administrator')
    .option('--temporal-address <addr>', 'default: TEMPORAL_ADDRESS, or 127.0.0.1:7233')
    .option('--namespace <name>', 'default: TEMPORAL_NAMESPACE, or default')
    .option('--target <name=url>', 'database to change, as its administrator; repeat', collect)
    .option('--schemas <names>', 'of the targets, separated by commas')
    .option('--person <name[=file]>', 'approver; a link without a public key; repeat', collect)
    .option('--agent <name=person>', 'agent and the person it acts for; repeat', collect)
    .option('--judge-url <url>', 'OpenAI-compatible server of the judge')
    .option('--judge-key-file <file>', 'file with its API key')
    .option('--operator-key <file>', 'outside of the directory; made if missing')
    .option('--policy <file>', 'published at once (default: a starter to edit)')
    .option('--gateway-port <n>', 'default: 8077')
    .option('--public-url <url>', 'of the inbox; default: http://localhost:<port>')
    .option('--rotate', 'replace unknown passwords of existing roles')
    .option('--write <kind>', 'manifests: compose, systemd or kubernetes')
    .option('--yes', 'never ask');
  addAction(init, cli, runInit);
}

async function runInit(io: Io, [given]: readonly string[], options: Options): Promise<ExitCode> {
  const asking = io.interactive && !isGiven(options, '--yes') ? io : { ...io, interactive: false };
  const kind = choiceOption(options, '--write', MANIFEST_KINDS) ?? null;
  const dir = resolve(given ?? '.countersign');
  const { shellEnv } = io.host;
  const request = await requestOf(asking, withCliEnv(dir, shellEnv), dir, options);
  const { initialize } = await io.host.remote.init();
  const done = await initialize(shellEnv, request, io.err.line);
  const manifests =
    kind === null ? null : (await io.host.remote.manifests()).writeManifests(kind, request.dir, io.host.version);
  const written = (manifests?.files ?? []).map(({ path, changed }) => ({ what: path, changed }));
  const steps = [...done.steps, ...written];
  const inviting = request.persons.some(({ publicKeyFile }) => publicKeyFile === null);
  const { doctor } = await io.host.remote.doctor();
  const checks = await doctor({ ...shellEnv, ...done.settings }, { offline: true, inviting });
  const ok = checks.every((check) => check.ok);
  const next = nextCommands(request, done, manifests?.start ?? `countersign up ${shellQuote(dir)}`);
  if (!io.json) {
    for (const { what, changed } of steps)
      io.out.line(line`${changed ? styled('green', 'made') : styled('dim', 'kept')} ${what}`);
    printChecks(io.out, checks);
  }
  const { made, open } = await done.invite();
  if (io.json) io.out.json({ ok, dir, steps, checks, links: made, openLinks: open, next });
  else {
    for (const { person, link, expiresAt } of made)
      io.out.line(line`link for ${person} only, once, until ${expiresAt}: ${styled('bold', link)}`);
    for (const { person, keyId, expiresAt } of open)
      io.out.line(
        line`an earlier link for ${person} is open until ${expiresAt}; if it is lost, revoke it and run init again: ${styled('bold', commandFor(request, revokeLink(keyId, request.operatorKey)))}`,
      );
    for (const command of next) io.out.line(line`next: ${styled('bold', command)}`);
  }
  return ok ? ExitCode.Ok : ExitCode.Failure;
}

function nextCommands(request: InitRequest, { policyToPublish }: Initialized, start: string): string[] {
  const key = shellQuote(request.operatorKey);
  return policyToPublish === null
    ? [start]
    : [commandFor(request, `countersign policy publish ${shellQuote(policyToPublish)} --operator-key ${key}`), start];
}

/** A command line about the directory. */
function commandFor({ dir }: InitRequest, command: string): string {
  return `COUNTERSIGN_STATE_DIR=${shellQuote(dir)} ${command}`;
}

/** For a repeatable option. */
function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
