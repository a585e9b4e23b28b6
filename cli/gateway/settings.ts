import type { EvidenceTrust } from '../../signing/verify-evidence';
import { ConfigError, readTrustFile, type Env } from '../../workers/config';
import type { Login } from './login-file';

/** The gateway that commands about reviews use. */
export interface GatewaySettings {
  readonly url: string;
  readonly tenant: string;
  /** Signs requests, answers and submissions unless `--key` is given; null: only `--key`. */
  readonly keyFile: string | null;
  /** Everything that the gateway sends is verified with these keys. */
  readonly trust: EvidenceTrust;
}

/** The settings for the gateway at `url`, of the environment and of a login to it. Throws ConfigError without trust roots. */
export function settingsFor(env: Env, url: string, login: Login | null): GatewaySettings {
  const trustFile = env['COUNTERSIGN_TRUST_FILE'];
  const trust = trustFile === undefined ? login : readTrustFile(trustFile);
  if (trust === null)
    throw new ConfigError(
      `COUNTERSIGN_TRUST_FILE: is not set, so nothing that ${url} sends can be verified. Get the file from an operator`,
    );
  return {
    url,
    tenant: env['COUNTERSIGN_TENANT'] ?? login?.tenant ?? 'default',
    keyFile: env['COUNTERSIGN_KEY_FILE'] ?? login?.keyFile ?? null,
    trust: { operators: trust.operators, committers: trust.committers },
  };
}
