/**
 * Every environment variable of every process and of the CLI, with its meaning. docs/operate.md shows this table, and a test
 * compares the two.
 */
import { z } from 'zod';
import { editDistance } from '../policy/text/edit-distance';

/** A number as text. An empty one is refused: `Number` reads it as 0. */
const numeric = (number: z.ZodType<number, number>) =>
  z
    .string()
    .refine((text) => text.trim() !== '' && !Number.isNaN(Number(text)), 'expected a number')
    .transform(Number)
    .pipe(number);
const Port = numeric(z.int().min(0).max(65_535));
const Path = z.string().min(1);
const WebUrl = z.url({ protocol: /^https?$/ });
/** With a password, checks and errors would print it. */
const GatewayUrl = WebUrl.refine(
  (text) => !URL.canParse(text) || new URL(text).username + new URL(text).password === '',
  'expected a URL without user and password',
);
/** Browsers offer passkeys over https, and on localhost over http; an address is not a valid relying party. */
const PublicUrl = z
  .string()
  .regex(/^(https:\/\/(?=[^/]*[a-z])[a-z0-9]([a-z0-9.-]*[a-z0-9])?|http:\/\/localhost)(:[1-9][0-9]{0,4})?\/?$/, {
    error: 'expected https with a host name, or http://localhost, and no path',
    abort: true,
  })
  .refine((url) => URL.canParse(url), 'expected a valid host name, and a port up to 65535')
  .transform((url) => new URL(url).origin);
const DatabaseUrl = z.string().regex(/^postgres(ql)?:\/\//, 'expected postgres://role:password@host:port/database');

const ExtensionsList = z
  .string()
  .default('')
  .describe('Comma-separated paths of your [extension modules](extend.md), the same for all.');
const QueueSuffix = z
  .string()
  .regex(/^(-[a-z0-9][a-z0-9-]*)?$/, 'expected an empty value or -name')
  .default('')
  .describe('Separates task queues, for example `-staging`.');
const PayloadKeysFile = Path.optional().describe(
  'Encrypts the Temporal history and the rows of dry runs with AES-256-GCM. See [Encryption](#encryption).',
);
const KeyPassphrase = Path.optional().describe('The passphrase of an encrypted key file.');
const PricesFile = Path.optional().describe(
  'Prices by model, in millionths of a currency unit per million tokens. Without it the cost is recorded as unknown.',
);

export const LogLevel = z
  .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace'])
  .default('info')
  .describe('`fatal`, `error`, `warn`, `info`, `debug` or `trace`.');

const Common = z.object({
  COUNTERSIGN_DATABASE_URL: DatabaseUrl.describe(
    'The Countersign database, with the role of this process: `cs_review`, `cs_judge`, `cs_commit` or `cs_gateway`.',
  ),
  COUNTERSIGN_TRUST_FILE: Path.describe(
    'JSON `{"operators": [public keys], "committers": [public keys]}`: who may sign policy and key registrations, and who signs receipts. An operator can be `{"publicKey": …, "until": …}` ([Replacing keys](#replacing-keys-and-passwords)).',
  ),
  COUNTERSIGN_QUEUE_SUFFIX: QueueSuffix,
  COUNTERSIGN_EXTENSIONS: ExtensionsList,
  COUNTERSIGN_METRICS_PORT: Port.optional().describe('Prometheus metrics on loopback.'),
  COUNTERSIGN_PAYLOAD_KEYS_FILE: PayloadKeysFile,
  LOG_LEVEL: LogLevel,
});
export type CommonEnv = z.infer<typeof Common>;

export interface HealthAddress {
  readonly hostname: string;
  readonly port: number;
}
export const HostAndPort = z
  .string()
  .regex(/^(\[[0-9a-fA-F:.]+\]|[^:[\]\s]+):\d{1,5}$/, 'expected host:port')
  .transform((text): HealthAddress => {
    const colon = text.lastIndexOf(':');
    return { hostname: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
  })
  .refine(({ port }) => port <= 65_535, 'expected a port up to 65535');

const WithKey = Common.extend({
  COUNTERSIGN_KEY_FILE: Path.describe('The key of this process.'),
  COUNTERSIGN_KEY_PASSPHRASE: KeyPassphrase,
  COUNTERSIGN_BUILD_ID: z
    .string()
    .optional()
    .describe('Turns on worker versioning. See [Deploying a new version](#deploying-a-new-version).'),
  COUNTERSIGN_HEALTH_ADDRESS: HostAndPort.optional().describe(
    'Where `/healthz` and `/readyz` are served, as `host:port`. See [Health](#health).',
  ),
});
/** The variables that all worker processes have in common. */
export type RoleEnv = z.infer<typeof WithKey>;

export const ReviewEnv = WithKey.extend({
  COUNTERSIGN_BREAKERS: z.enum(['on', 'off']).default('on').describe('Circuit breakers: `on` or `off`.'),
  COUNTERSIGN_MAX_CACHED_REVIEWS: numeric(z.int().min(2).max(100_000))
    .optional()
    .describe(
      'Most reviews whose workflow stays in memory; another one is replayed when it continues. Default: as the heap of Node allows. See [Many open reviews](#many-open-reviews).',
    ),
  COUNTERSIGN_NOTICES_FILE: Path.optional().describe(
    'Who is notified of waiting reviews, and how. See [Notices](#notices). Without it no notices are sent.',
  ),
});
export const JudgeEnv = WithKey.extend({
  OPENAI_API_KEY: Path.optional().describe('The key of the model API. Without it the judge cannot answer.'),
  OPENAI_BASE_URL: WebUrl.default('https://api.openai.com/v1').describe('Any OpenAI-compatible server.'),
  COUNTERSIGN_JUDGE_PRICES_FILE: PricesFile,
  COUNTERSIGN_JUDGE_REQUESTS_PER_SECOND: numeric(z.number().min(0.01).max(1000))
    .default(5)
    .describe(
      'Attempts to judge a change that all judge workers together start in a second. One attempt sends a request for each piece of the change, usually one and at most `maxChunks`.',
    ),
});
export const CommitEnv = WithKey.extend({
  COUNTERSIGN_TARGETS_FILE: Path.describe('The targets and their credentials. See [Targets](#targets).'),
  COUNTERSIGN_TARGET_CONCURRENCY: numeric(z.int().min(1).max(100))
    .default(8)
    .describe('Dry runs and commits that one committer runs at a time on one target, shared in turn between tenants.'),
  COUNTERSIGN_RECONCILE_GRACE_SECONDS: numeric(z.number().min(1).max(86_400))
    .default(300)
    .describe(
      'How long the workflow of a review may be gone or stuck before it is repaired or ended. See [Lost workflows](#lost-workflows).',
    ),
  COUNTERSIGN_RECONCILE_EVERY_SECONDS: numeric(z.number().min(1).max(86_400))
    .default(20)
    .describe('Interval of the search for lost workflows.'),
  COUNTERSIGN_REPLAY_PER_DAY: numeric(z.int().min(0).max(100_000))
    .default(1000)
    .describe('Most histories that are replayed each day; 0 for none. See [Lost workflows](#lost-workflows).'),
});
const InboxUrl = PublicUrl.optional().describe(
  'The address at which people open the inbox, for example `https://countersign.example`; passkeys belong to its host. Default: `http://localhost` with the port. See [The inbox](#the-inbox).',
);
export const GatewayEnv = Common.extend({
  COUNTERSIGN_GATEWAY_HOST: z.string().default('127.0.0.1').describe('Address on which the gateway listens.'),
  COUNTERSIGN_GATEWAY_PORT: Port.default(8077).describe('Port on which the gateway listens.'),
  COUNTERSIGN_PUBLIC_URL: InboxUrl,
  COUNTERSIGN_TEMPORAL_UI_URL: WebUrl.optional().describe(
    'The Temporal UI to which the inbox links. Without it there are no links.',
  ),
});

export const CodecEnv = z.object({
  COUNTERSIGN_PAYLOAD_KEYS_FILE: Path.describe('The keys with which the codec server decrypts.'),
  COUNTERSIGN_UI_ORIGIN: WebUrl.transform((url) => new URL(url).origin).describe(
    'The Temporal UI, the only origin that CORS allows. Anyone who can reach the codec server can read every review.',
  ),
  COUNTERSIGN_CODEC_HOST: z.string().default('127.0.0.1').describe('Address on which the codec server listens.'),
  COUNTERSIGN_CODEC_PORT: Port.default(8078).describe('Port on which the codec server listens.'),
  LOG_LEVEL: LogLevel,
});

/** Read by `countersign` commands, each of which needs only some of them. */
export const CliEnv = z.object({
  COUNTERSIGN_STATE_DIR: Path.default('.countersign').describe(
    'The directory of `countersign init` or `countersign dev`. Its file `cli.env` or `client.json` sets what the environment does not. If it is set, an earlier login [is not used](#through-the-gateway).',
  ),
  COUNTERSIGN_DATABASE_URL: DatabaseUrl.optional().describe('The Countersign database, with the role `cs_gateway`.'),
  COUNTERSIGN_OPERATOR_DATABASE_URL: DatabaseUrl.optional().describe(
    'The same database with the role `cs_operator`, for commands that take an operator key.',
  ),
  COUNTERSIGN_DATABASE_ADMIN_URL: DatabaseUrl.optional().describe(
    'The same database with a role that may create tables and roles, for `init` and `setup`. `dev` uses this server instead of starting one. If another directory made the roles there, that needs `--rotate`, and the processes of that directory lose their access.',
  ),
  COUNTERSIGN_TRUST_FILE: Path.optional().describe('The same trust file that the processes read.'),
  COUNTERSIGN_TARGETS_FILE: Path.optional().describe('`doctor` checks these targets.'),
  COUNTERSIGN_TARGET_ADMIN_URL: DatabaseUrl.optional().describe(
    'A target, with a role that may create roles and schemas, for `target init`.',
  ),
  COUNTERSIGN_TARGET_SCHEMAS: z
    .string()
    .min(1)
    .default('public')
    .describe('Comma-separated schemas whose tables `target init` grants.'),
  COUNTERSIGN_GATEWAY_URL: GatewayUrl.optional().describe(
    'The address of the gateway. Commands about reviews use it unless `COUNTERSIGN_DATABASE_URL` is set as well. See [Through the gateway](#through-the-gateway).',
  ),
  COUNTERSIGN_PUBLIC_URL: InboxUrl,
  COUNTERSIGN_KEY_FILE: Path.optional().describe(
    'Your key, which signs requests to the gateway, if `--key` is not given.',
  ),
  COUNTERSIGN_TENANT: z
    .string()
    .min(1)
    .default('default')
    .describe('The tenant of reviews, if `--tenant` is not given.'),
  COUNTERSIGN_QUEUE_SUFFIX: QueueSuffix,
  COUNTERSIGN_EXTENSIONS: ExtensionsList,
  COUNTERSIGN_PAYLOAD_KEYS_FILE: PayloadKeysFile,
  COUNTERSIGN_KEY_PASSPHRASE: KeyPassphrase,
  COUNTERSIGN_JUDGE_PRICES_FILE: PricesFile,
  COUNTERSIGN_TEMPORAL_CLI: Path.optional().describe('The Temporal CLI that `dev` uses.'),
  COUNTERSIGN_CACHE: Path.optional().describe('Where `dev` keeps downloaded programs. Default: the cache of the user.'),
});

const ENV_SCHEMAS = {
  review: ReviewEnv,
  judge: JudgeEnv,
  committer: CommitEnv,
  gateway: GatewayEnv,
  codec: CodecEnv,
  CLI: CliEnv,
} as const;
export type EnvReader = keyof typeof ENV_SCHEMAS;

export interface Variable {
  readonly name: string;
  /** Processes that read it with this meaning. */
  readonly readBy: readonly EnvReader[];
  readonly meaning: string;
  /** The value that is used if it is not set; null without a default. */
  readonly fallback: string | null;
  readonly required: boolean;
}

/** The table of configuration, derived from the schemas. A variable with two meanings has two rows. */
export function variables(): readonly Variable[] {
  const rows = new Map<string, Variable>();
  for (const reader of Object.keys(ENV_SCHEMAS) as EnvReader[])
    for (const [name, schema] of Object.entries<z.ZodType>(ENV_SCHEMAS[reader].shape)) {
      const meaning = schema.description ?? '';
      const key = `${name} ${meaning}`;
      const known = rows.get(key);
      const unset = schema.safeParse(undefined);
      const fallback = unset.success && unset.data !== undefined && unset.data !== '' ? String(unset.data) : null;
      rows.set(key, { name, meaning, fallback, required: !unset.success, readBy: [...(known?.readBy ?? []), reader] });
    }
  return [...rows.values()];
}

/** Names with our prefix that nothing reads, each with the nearest known name: most are typing errors. */
export function unknownVariables(
  env: Readonly<Record<string, string | undefined>>,
): readonly { readonly name: string; readonly nearest: string }[] {
  const known = new Set(variables().map(({ name }) => name));
  return Object.keys(env)
    .filter((name) => name.startsWith('COUNTERSIGN_') && env[name] !== undefined && !known.has(name))
    .map((name) => ({ name, nearest: nearest(name, [...known]) }));
}

function nearest(name: string, known: readonly string[]): string {
  const ranked = known.map((each) => ({ each, distance: editDistance(name, each) }));
  return ranked.reduce((best, next) => (next.distance < best.distance ? next : best)).each;
}
