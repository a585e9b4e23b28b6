import { realpathSync, existsSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { ConfigError } from '../../workers/config-error';

/** Added to the gateway's port for the first of three workers. The port next to the gateway's is the default of the codec server. */
export const FIRST_HEALTH_PORT = 4;
export const MAX_GATEWAY_PORT = 65_535 - FIRST_HEALTH_PORT - 2;

/** What `countersign init` is asked to make. */
export interface InitRequest {
  /** Absolute path of the directory for everything that the processes need. */
  readonly dir: string;
  /** Countersign database, with a role that may create tables and roles. */
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly tenant: string;
  readonly targets: readonly { readonly name: string; readonly adminUrl: string }[];
  /** Schemas of each target whose tables agents may change. */
  readonly schemas: readonly string[];
  /** Approvers. Without a file of a public key, a person gets a link by which they enrol a passkey. */
  readonly persons: readonly { readonly name: string; readonly publicKeyFile: string | null }[];
  /** Agents, each with the person on whose behalf it submits. */
  readonly agents: readonly { readonly name: string; readonly person: string }[];
  readonly judge: { readonly url: string | null; readonly keyFile: string | null };
  readonly operatorKey: string;
  readonly policy: string | null;
  readonly gatewayPort: number;
  /** The address at which people open the inbox; null to keep what is set, by default localhost. */
  readonly publicUrl: string | null;
  /** Whether passwords of existing roles may be replaced. */
  readonly rotate: boolean;
}

/**
 * Throws ConfigError if the operator's key is inside the directory: the directory is on the machine of the processes, and
 * that key decides what they trust.
 */
export function assertSeparateOperatorKey(dir: string, operatorKey: string): void {
  const folder = realPath(dir);
  if (!`${realPath(resolve(operatorKey))}${sep}`.startsWith(`${folder}${sep}`)) return;
  throw new ConfigError(
    `--operator-key: expected a path outside of ${dir}: the operator's key must not be where the processes run`,
  );
}

/** With symbolic links resolved as far as the path exists. */
function realPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(path);
  return parent === path ? path : join(realPath(parent), path.slice(parent.length));
}
