/**
 * The environment variables and configuration files of each process, checked when it starts. An error names the variable or
 * file, what was expected, and what to do.
 */
import { z } from 'zod';
import type { PriceTable } from '../policy/judge/record';
import { toPublicKeyObject } from '../signing/keys';
import { readKeyFile, type LoadedKey } from '../signing/key-file';
import type { TargetConfig, Targets } from '../activities/committer/targets';
import { ConfigError } from './config-error';
import { readJson } from './json-file';

export { ConfigError };

export type Env = Readonly<Record<string, string | undefined>>;

const Port = z.coerce.number().int().min(0).max(65_535);
const Common = z.object({
  COUNTERSIGN_DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'expected postgres://role:password@host:port/countersign'),
  COUNTERSIGN_TRUST_FILE: z.string().min(1),
  COUNTERSIGN_QUEUE_SUFFIX: z
    .string()
    .regex(/^(-[a-z0-9][a-z0-9-]*)?$/, 'expected an empty value or -name')
    .default(''),
  COUNTERSIGN_EXTENSIONS: z.string().default(''),
  COUNTERSIGN_METRICS_PORT: Port.optional(),
  /** Encryption keys of Temporal payloads; without it payloads are not encrypted. */
  COUNTERSIGN_PAYLOAD_KEYS_FILE: z.string().min(1).optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info'),
});
export type CommonEnv = z.infer<typeof Common>;

const WithKey = Common.extend({
  COUNTERSIGN_KEY_FILE: z.string().min(1),
  COUNTERSIGN_KEY_PASSPHRASE: z.string().min(1).optional(),
});
/** The variables that all worker processes have in common. */
export type RoleEnv = z.infer<typeof WithKey>;

export const ReviewEnv = WithKey.extend({
  /** Whether circuit breakers are used. */
  COUNTERSIGN_BREAKERS: z.enum(['on', 'off']).default('on'),
  COUNTERSIGN_WEBHOOK_URL: z.url({ protocol: /^https?$/ }).optional(),
  COUNTERSIGN_WEBHOOK_SECRET: z.string().min(16).optional(),
});
export const JudgeEnv = WithKey.extend({
  OPENAI_API_KEY: z.string().min(1).optional(),
  OPENAI_BASE_URL: z.url({ protocol: /^https?$/ }).default('https://api.openai.com/v1'),
  /** The provider's prices; without it the cost of a judgement is recorded as unknown. */
  COUNTERSIGN_JUDGE_PRICES_FILE: z.string().min(1).optional(),
  COUNTERSIGN_JUDGE_REQUESTS_PER_SECOND: z.coerce.number().min(0.01).max(1000).default(5),
});
export const CommitEnv = WithKey.extend({
  COUNTERSIGN_TARGETS_FILE: z.string().min(1),
  /** How long the workflow of an open review may be gone or stuck before the committer repairs or ends the review. */
  COUNTERSIGN_RECONCILE_GRACE_SECONDS: z.coerce.number().min(1).max(86_400).default(300),
  COUNTERSIGN_RECONCILE_EVERY_SECONDS: z.coerce.number().min(1).max(86_400).default(20),
});
export const GatewayEnv = Common.extend({
  COUNTERSIGN_GATEWAY_PORT: Port.default(8077),
  COUNTERSIGN_GATEWAY_HOST: z.string().default('127.0.0.1'),
});

export const CodecEnv = z.object({
  COUNTERSIGN_PAYLOAD_KEYS_FILE: z.string().min(1),
  /** The only origin that is allowed by CORS: the Temporal UI. */
  COUNTERSIGN_UI_ORIGIN: z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).origin),
  COUNTERSIGN_CODEC_PORT: Port.default(8078),
  COUNTERSIGN_CODEC_HOST: z.string().default('127.0.0.1'),
});

/** Throws ConfigError that lists every invalid variable; values are never printed. */
export function readEnv<T extends z.ZodType>(schema: T, env: Env): z.infer<T> {
  const parsed = schema.safeParse(env);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => {
    const name = issue.path.join('.');
    return `  ${name}: ${env[name] === undefined ? 'is not set' : issue.message}`;
  });
  throw new ConfigError(`Invalid environment; docs/operate.md describes each variable.\n${lines.join('\n')}`);
}

const PublicKey = z.string().regex(/^[0-9a-f]{64}$/, 'expected an Ed25519 public key, 64 lower-case hex digits');
const TrustFile = z.strictObject({ operators: z.array(PublicKey).min(1) });

/** The operator keys that this process trusts, for policy revisions and for entries of the key registry. */
export function readTrust(path: string): readonly string[] {
  const { operators } = readJson(path, TrustFile);
  operators.forEach(toPublicKeyObject);
  return operators;
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
  const key = readKeyFile(env.COUNTERSIGN_KEY_FILE, passphrase === undefined ? {} : { passphrase });
  if (key.kind !== kind) throw new ConfigError(`COUNTERSIGN_KEY_FILE: expected a ${kind} key, got a ${key.kind} key`);
  return key;
}
