/**
 * The environment variables and configuration files of each process, checked when it starts. An error names the variable or
 * file, what was expected, and what to do.
 */
import { z } from 'zod';
import { messageOf } from '../client/errors';
import type { PriceTable } from '../policy/judge/record';
import { assertPublicKey } from '../signing/key-id';
import { OperatorKeys, PublicKey, publicKeyOf } from '../signing/operator-key';
import { readKeyFile, type LoadedKey } from '../signing/key-file';
import type { TargetConfig, Targets } from '../activities/committer/targets';
import { ConfigError } from './config-error';
import { readJson } from './json-file';
import { CliEnv, unknownVariables } from './process-env';

export { ConfigError };
export { CodecEnv, CommitEnv, GatewayEnv, JudgeEnv, ReviewEnv, type CommonEnv, type RoleEnv } from './process-env';

/** Turns what `read` throws into a ConfigError that names the variable or file: the same start would fail again. */
function asConfig<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ConfigError(`${name}: ${messageOf(error)}`, { cause: error });
  }
}

export type Env = Readonly<Record<string, string | undefined>>;

/** Throws ConfigError that lists every invalid or unknown variable; values are never printed. */
export function readEnv<T extends z.ZodType>(schema: T, env: Env): z.infer<T> {
  const parsed = schema.safeParse(env);
  const unknown = unknownVariables(env).map(
    ({ name, nearest }) => `${name}: no process reads this variable; did you mean ${nearest}?`,
  );
  if (parsed.success && unknown.length === 0) return parsed.data;
  throw invalidEnvironment([...unknown, ...invalidVariables(parsed.error, env)]);
}

/** Throws ConfigError that lists every variable of the CLI with an invalid value. Others are not refused: a shell can have those of later versions. */
export function assertCliEnv(env: Env): void {
  const parsed = CliEnv.safeParse(env);
  if (!parsed.success) throw invalidEnvironment(invalidVariables(parsed.error, env));
}

function invalidVariables(error: z.ZodError | undefined, env: Env): string[] {
  return (error?.issues ?? []).map((issue) => {
    const name = issue.path.join('.');
    return `${name}: ${env[name] === undefined ? 'is not set' : env[name] === '' ? 'is empty' : issue.message}`;
  });
}

function invalidEnvironment(problems: readonly string[]): ConfigError {
  const lines = problems.map((each) => `  ${each}`).join('\n');
  return new ConfigError(`Invalid environment; docs/operate.md describes each variable.\n${lines}`);
}

const TrustFile = z.strictObject({ operators: OperatorKeys.min(1), committers: z.array(PublicKey).default([]) });
export type Trust = z.infer<typeof TrustFile>;

/** Whose signatures count: operators sign policy revisions and entries of the key registry, committers sign receipts. */
export function readTrustFile(path: string): Trust {
  const trust = readJson(path, TrustFile, 'expected {"operators": [public keys], "committers": [public keys]}');
  asConfig(path, () => [...trust.operators.map(publicKeyOf), ...trust.committers].forEach(assertPublicKey));
  return trust;
}

const Named = { name: z.string(), development: z.boolean() };
const UrlTarget = z.strictObject({ ...Named, stageUrl: z.string().nullable(), commitUrl: z.string().nullable() });
/** Excludes the characters that end a name or an address in a commit object. */
const IdentityText = z.string().regex(/^[^<>\n\0]{1,200}$/, 'expected 1 to 200 characters without < > and line feeds');
const GitTarget = z.strictObject({
  ...Named,
  git: z.strictObject({
    repository: z.string().regex(/^\/[^:\n"]*$/, 'expected an absolute path without colons and quotes'),
    ref: z
      .string()
      .regex(/^refs\/heads\/[A-Za-z0-9][A-Za-z0-9._/-]{0,200}$/, 'expected a branch in full, such as refs/heads/main'),
    author: z
      .strictObject({ name: IdentityText, email: IdentityText })
      .default({ name: 'Countersign', email: 'committer@countersign.invalid' }),
  }),
});
const HttpTarget = z
  .strictObject({
    ...Named,
    http: z.strictObject({
      baseUrl: z.url({ protocol: /^https?$/ }).refine((url) => {
        const { username, password, search, hash } = new URL(url);
        return `${username}${password}${search}${hash}` === '';
      }, 'expected only scheme, host and path; credentials belong in "headers"'),
      headers: z
        .record(z.string().regex(/^[a-z0-9-]{1,100}$/, 'expected a header in lower case'), z.string())
        .default({}),
      queryNames: z.array(z.string().min(1).max(100)).default([]),
      replaysIdempotent: z.boolean().default(false),
      undo: z.enum(['put', 'none']).default('none'),
    }),
  })
  .refine((target) => target.development || target.http.baseUrl.startsWith('https:'), {
    message: 'expected https, except for a development target',
    path: ['http', 'baseUrl'],
  });
const TargetsFile = z.strictObject({ targets: z.array(z.union([UrlTarget, GitTarget, HttpTarget])).min(1) });

/** The targets of the committer, by name. */
export function readTargets(path: string): Targets {
  const { targets } = readJson(path, TargetsFile);
  const byName = new Map<string, TargetConfig>(targets.map((t) => [t.name, t]));
  if (byName.size !== targets.length) throw new ConfigError(`${path}: a target is listed twice`);
  return byName;
}

const Price = z.number().min(0).max(1e12);
const PricesFile = z.record(
  z.string().min(1),
  z.strictObject({ input: Price, cachedInput: Price.optional(), output: Price }),
);

/** Prices by model name, in millionths of a currency unit per million tokens. Empty without a file. */
export function readPrices(path: string | undefined): PriceTable {
  if (path === undefined) return {};
  // PriceTable distinguishes an absent member from one that is undefined.
  const rows = Object.entries(readJson(path, PricesFile)).map(([model, { input, cachedInput, output }]) => [
    model,
    cachedInput === undefined ? { input, output } : { input, cachedInput, output },
  ]);
  return Object.fromEntries(rows) as PriceTable;
}

/** The key file of a process. Throws ConfigError if the key is of another kind. */
export function readKey(
  env: { readonly COUNTERSIGN_KEY_FILE: string; readonly COUNTERSIGN_KEY_PASSPHRASE?: string | undefined },
  kind: LoadedKey['kind'],
): LoadedKey {
  const passphrase = env.COUNTERSIGN_KEY_PASSPHRASE;
  const key = asConfig('COUNTERSIGN_KEY_FILE', () =>
    readKeyFile(env.COUNTERSIGN_KEY_FILE, passphrase === undefined ? {} : { passphrase }),
  );
  if (key.kind !== kind)
    throw new ConfigError(`COUNTERSIGN_KEY_FILE: expected a key of kind ${kind}, got one of kind ${key.kind}`);
  return key;
}
