import { resolve } from 'node:path';
import type { Command } from 'commander';
import { addAction, promptFor, type Cli, type Io } from '../action';
import { ExitCode } from '../exit-codes';
import {
  choiceOption,
  integerOption,
  isGiven,
  listOption,
  nameOf,
  optionValue,
  subjectId,
  targetName,
  textOption,
  type Options,
} from '../options';
import { line, styled } from '../printer';
import { printChecks } from '../doctor/print-checks';
import { shellQuote } from '../shell-quote';
import { UsageError } from '../usage-error';
import type { Initialized } from './initialize';
import type { ManifestKind } from './manifests/write-manifests';
import { MAX_GATEWAY_PORT, type InitRequest } from './request';

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

async function runInit(io: Io, [dir]: readonly string[], options: Options): Promise<ExitCode> {
  const asking = io.interactive && !isGiven(options, '--yes') ? io : { ...io, interactive: false };
  const kind = choiceOption(options, '--write', MANIFEST_KINDS) ?? null;
  const request = await requestOf(asking, resolve(dir ?? '.countersign'), options);
  const { initialize } = await io.host.remote.init();
  const done = await initialize(io.host.env, request, io.err.line);
  const manifests =
    kind === null ? null : (await io.host.remote.manifests()).writeManifests(kind, request.dir, io.host.version);
  const written = (manifests?.files ?? []).map(({ path, changed }) => ({ what: path, changed }));
  const steps = [...done.steps, ...written];
  const { doctor } = await io.host.remote.doctor();
  const checks = await doctor({ ...io.host.env, ...done.settings }, { offline: true });
  const ok = checks.every((check) => check.ok);
  const next = nextCommands(request, done, manifests?.start ?? `countersign up ${shellQuote(request.dir)}`);
  const { links } = done;
  if (io.json) io.out.json({ ok, dir: request.dir, steps, checks, links, next });
  else {
    for (const { what, changed } of steps)
      io.out.line(line`${changed ? styled('green', 'made') : styled('dim', 'kept')} ${what}`);
    printChecks(io, checks);
    for (const { person, link, expiresAt } of links)
      io.out.line(line`link for ${person} only, once, until ${expiresAt}: ${styled('bold', link)}`);
    for (const command of next) io.out.line(line`next: ${styled('bold', command)}`);
  }
  return ok ? ExitCode.Ok : ExitCode.Failure;
}

function nextCommands({ dir, operatorKey }: InitRequest, { policyToPublish }: Initialized, start: string): string[] {
  const publish =
    policyToPublish === null
      ? []
      : [
          `COUNTERSIGN_STATE_DIR=${shellQuote(dir)} countersign policy publish ${shellQuote(policyToPublish)} --key ${shellQuote(operatorKey)}`,
        ];
  return [...publish, start];
}

async function requestOf(io: Io, dir: string, options: Options): Promise<InitRequest> {
  const { env } = io.host;
  const required = async (flag: string, question: string, fallback?: string): Promise<string> => {
    const given = textOption(options, flag) ?? fallback;
    const value = given ?? (await promptFor(io, question, flag));
    if (value === '') throw new UsageError(`${flag} is missing`);
    return value;
  };
  const repeated = async (flag: string, question: string): Promise<readonly string[]> => {
    const given = repeatedOption(options, flag);
    if (given.length > 0 || !io.interactive) return given;
    return (await promptFor(io, question, flag)).split(/\s+/).filter((each) => each !== '');
  };
  const optional = async (flag: string, question: string): Promise<string | null> => {
    const value = textOption(options, flag) ?? (io.interactive ? await promptFor(io, question, flag) : '');
    return value === '' ? null : value;
  };
  const databaseUrl = await required(
    '--database-url',
    'URL of the Countersign database, with an administrator?',
    env['COUNTERSIGN_DATABASE_ADMIN_URL'],
  );
  const targets = await repeated('--target', 'Databases that agents may change, as NAME=ADMIN_URL?');
  const persons = await repeated('--person', 'Approvers, as NAME (prints a link) or NAME=PUBLIC_KEY_FILE?');
  const agents = await repeated('--agent', 'Agents, as NAME=PERSON (empty: none)?');
  const judgeUrl = await optional('--judge-url', "URL of the judge's model API (empty: none)?");
  const judgeKeyFile =
    judgeUrl === null
      ? (textOption(options, '--judge-key-file') ?? null)
      : await optional('--judge-key-file', 'File with its API key (empty: none)?');
  if (persons.length === 0) throw new UsageError('--person is missing: name at least one approver');
  return {
    dir,
    databaseUrl: urlOf(databaseUrl, '--database-url'),
    temporalAddress: textOption(options, '--temporal-address') ?? env['TEMPORAL_ADDRESS'] ?? '127.0.0.1:7233',
    namespace: textOption(options, '--namespace') ?? env['TEMPORAL_NAMESPACE'] ?? 'default',
    tenant: nameOf(env['COUNTERSIGN_TENANT'] ?? 'default', 'COUNTERSIGN_TENANT'),
    targets: onceEach(
      '--target',
      targets.map((each) => targetOf(each, env['COUNTERSIGN_TARGET_ADMIN_URL'])),
    ),
    schemas: listOption(options, '--schemas') ?? ['public'],
    persons: onceEach('--person', persons.map(personOf)),
    agents: onceEach('--agent', agents.map(agentOf)),
    judge: { url: judgeUrl, keyFile: judgeKeyFile },
    operatorKey: resolve(
      await required('--operator-key', 'File of the operator key (made if missing; keep it elsewhere)?'),
    ),
    policy: textOption(options, '--policy') ?? null,
    publicUrl: textOption(options, '--public-url') ?? null,
    gatewayPort: integerOption(options, '--gateway-port', {
      min: 1,
      max: MAX_GATEWAY_PORT,
      default: 8077,
    }),
    rotate: isGiven(options, '--rotate'),
  };
}

/** For a repeatable option. */
function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

function repeatedOption(options: Options, flag: string): readonly string[] {
  const value: unknown = optionValue(options, flag);
  return Array.isArray(value) ? value.map(String) : [];
}

function pairOf(text: string, flag: string, form: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) throw new UsageError(`${flag}: expected ${form}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function personOf(text: string): InitRequest['persons'][number] {
  if (!text.includes('=')) return { name: subjectId(text, '--person'), publicKeyFile: null };
  const [name, publicKeyFile] = pairOf(text, '--person', 'NAME or NAME=PUBLIC_KEY_FILE');
  return { name: subjectId(name, '--person'), publicKeyFile };
}

function agentOf(text: string): InitRequest['agents'][number] {
  const [name, person] = pairOf(text, '--agent', 'NAME=PERSON');
  return { name: subjectId(name, '--agent'), person: subjectId(person, '--agent') };
}

/** Of two entries of the same name, one would silently have no effect. */
function onceEach<T extends { readonly name: string }>(flag: string, given: readonly T[]): readonly T[] {
  const twice = given.find(({ name }, i) => given.findIndex((other) => other.name === name) < i);
  if (twice !== undefined) throw new UsageError(`${flag}: "${twice.name}" is given twice`);
  return given;
}

/** Without a URL, COUNTERSIGN_TARGET_ADMIN_URL, so that no password is visible in the list of processes. */
function targetOf(text: string, fallback: string | undefined): InitRequest['targets'][number] {
  const [name, url] =
    !text.includes('=') && fallback !== undefined ? [text, fallback] : pairOf(text, '--target', 'NAME=ADMIN_URL');
  return { name: targetName(name, '--target'), adminUrl: urlOf(url, '--target') };
}

/** Never repeats the URL, which may have a password. */
function urlOf(text: string, flag: string): string {
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new UsageError(`${flag}: expected postgres://user:password@host:port/database`);
}
