import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Env } from '../../workers/config';
import { readEnvFile } from '../../workers/env-file';
import { promptFor, type Io } from '../action';
import {
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
import { UsageError } from '../usage-error';
import { MAX_GATEWAY_PORT, type InitRequest } from './request';

/**
 * The request of the options, of `env` and of answers at the terminal. What is in none of them stays as the directory has it, or gets
 * its default. Throws UsageError.
 */
export async function requestOf(io: Io, env: Env, dir: string, options: Options): Promise<InitRequest> {
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
  // Optional in a repeated run, since an earlier one has registered the approvers.
  if (persons.length === 0 && !existsSync(join(dir, 'cli.env')))
    throw new UsageError('--person is missing: name at least one approver');
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
      default: Number(readEnvFile(join(dir, 'gateway.env'))['COUNTERSIGN_GATEWAY_PORT'] ?? 8077),
    }),
    rotate: isGiven(options, '--rotate'),
  };
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
