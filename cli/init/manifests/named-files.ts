import { isAbsolute, join } from 'node:path';
import { ConfigError } from '../../../workers/config-error';
import { knownTargets } from '../targets';

/** Files that the settings of a process name. Each path is in one of the first two lists, once: a container cannot have it twice. */
export interface NamedFiles {
  /** Key, trust, targets, encryption keys, prices, notices and their secrets, client certificates. */
  readonly files: readonly string[];
  /** CA certificates. They are public, and can be those of the system. */
  readonly certificates: readonly string[];
  /** Those of both lists that the URL of a database names. */
  readonly inUrls: readonly string[];
}

/** Node reads it before it reads a file of settings, so a container needs it in its environment. */
export const EXTRA_CA = 'NODE_EXTRA_CA_CERTS';
/** Variables whose value is a path. */
export const NAMES_FILE = /_(FILE|PATH)$|^NODE_EXTRA_CA_CERTS$/;
/** Variables of Temporal and of Node that can name a file. */
const NOT_OURS = /^(TEMPORAL_(TLS_.*|CONFIG_FILE)|NODE_EXTRA_CA_CERTS)$/;
const NAMES_CERTIFICATES = /^(TEMPORAL_TLS_SERVER_CA_CERT_PATH|NODE_EXTRA_CA_CERTS)$/;

interface Settings {
  readonly envFile: string;
  readonly env: Readonly<Record<string, string>>;
  /** Variables that the process reads, besides those of Temporal and of Node. */
  readonly variables: readonly string[];
  /** For a process that reads the targets: their file. */
  readonly targets: { readonly path: string; readonly urls: readonly string[] } | null;
}

export function namedFiles({ envFile, env, variables, targets }: Settings): NamedFiles {
  const set = [...variables, ...Object.keys(env).filter((name) => NOT_OURS.test(name))].filter((name) =>
    NAMES_FILE.test(name),
  );
  const valuesOf = (names: readonly string[]): readonly string[] => names.flatMap((name) => env[name] ?? []);
  const urls = [
    ...valuesOf(['COUNTERSIGN_DATABASE_URL']).map((url) => ({ url, where: `${envFile}: COUNTERSIGN_DATABASE_URL` })),
    ...(targets?.urls ?? []).map((url) => ({ url, where: `${targets?.path ?? ''}: the URL of a target` })),
  ];
  const inUrl = (parameter: string) => urls.flatMap(({ url, where }) => filesOf(url, parameter, where));
  const authorities = inUrl('sslrootcert');
  const client = [...inUrl('sslcert'), ...inUrl('sslkey')];
  const files = new Set([...valuesOf(set.filter((name) => !NAMES_CERTIFICATES.test(name))), ...client]);
  const certificates = new Set([...valuesOf(set.filter((name) => NAMES_CERTIFICATES.test(name))), ...authorities]);
  return {
    files: [...files],
    certificates: [...certificates].filter((path) => !files.has(path)),
    inUrls: [...authorities, ...client],
  };
}

/** The files of a parameter of a URL, as node-postgres reads it. Throws ConfigError for a relative path: a process is started in another folder. */
function filesOf(url: string, parameter: string, where: string): readonly string[] {
  const [, query = ''] = /\?([^#]*)/.exec(url) ?? [];
  const paths = new URLSearchParams(query).getAll(parameter).filter((path) => path !== '');
  const relative = paths.find((path) => !isAbsolute(path));
  if (relative === undefined) return paths;
  throw new ConfigError(
    `${where} has ${parameter}=${relative}; expected an absolute path, since each process is started in another folder`,
  );
}

/** The databases of the targets in a directory of `init`. */
export function targetUrls(dir: string): NonNullable<Settings['targets']> {
  const urls = [...knownTargets(dir).values()].flatMap((target) =>
    'stageUrl' in target ? [target.stageUrl, target.commitUrl].filter((url) => url !== null) : [],
  );
  return { path: join(dir, 'targets.json'), urls };
}
