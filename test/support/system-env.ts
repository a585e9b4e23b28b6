import type { System } from './system';

type Variables = Readonly<Record<string, string>>;

/** The Temporal server that all system tests share. */
export const temporalEnv = (): Variables => ({
  TEMPORAL_ADDRESS: process.env['COUNTERSIGN_TEST_TEMPORAL'] ?? '',
  TEMPORAL_NAMESPACE: process.env['COUNTERSIGN_TEST_NAMESPACE'] ?? 'default',
});

/** What every process of a system reads. */
export const processEnv = ({ setup, suffix }: System): Variables => ({
  ...temporalEnv(),
  COUNTERSIGN_TRUST_FILE: setup.trustFile,
  COUNTERSIGN_QUEUE_SUFFIX: suffix,
});

export const gatewayEnv = (system: System, port: number): Variables => ({
  ...processEnv(system),
  COUNTERSIGN_DATABASE_URL: system.setup.databaseUrls.cs_gateway,
  COUNTERSIGN_GATEWAY_PORT: String(port),
});

/** A command line on a host of the servers, with the roles of the gateway and of the operator. */
export const commandEnv = ({ setup }: System): Variables => ({
  ...temporalEnv(),
  COUNTERSIGN_STATE_DIR: '/nowhere',
  COUNTERSIGN_DATABASE_URL: setup.databaseUrls.cs_gateway,
  COUNTERSIGN_OPERATOR_DATABASE_URL: setup.databaseUrls.cs_operator,
  COUNTERSIGN_TRUST_FILE: setup.trustFile,
  // Relative to workers/extensions.ts.
  COUNTERSIGN_EXTENSIONS: '../test/support/shop-extension',
});
