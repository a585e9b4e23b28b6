import { processEnvs } from '../../dev/process-envs';
import type { System } from './system';

type Variables = Readonly<Record<string, string>>;

/** The Temporal server that all system tests share. */
export const temporalEnv = () => ({
  TEMPORAL_ADDRESS: process.env['COUNTERSIGN_TEST_TEMPORAL'] ?? '',
  TEMPORAL_NAMESPACE: process.env['COUNTERSIGN_TEST_NAMESPACE'] ?? 'default',
});

/** The environment of each process of a system. */
export function processEnvsOf({ setup, suffix }: System): ReturnType<typeof processEnvs> {
  const { TEMPORAL_ADDRESS: temporalAddress, TEMPORAL_NAMESPACE: namespace } = temporalEnv();
  const envs = processEnvs(setup, { temporalAddress, namespace });
  for (const env of Object.values(envs)) env['COUNTERSIGN_QUEUE_SUFFIX'] = suffix;
  return envs;
}

export const gatewayEnv = (system: System, port: number): Variables => ({
  ...processEnvsOf(system).gateway,
  COUNTERSIGN_GATEWAY_PORT: String(port),
});

/** A command line on a host of the servers, with the roles of the gateway and of the operator. */
export const commandEnv = ({ setup }: System): Variables => ({
  ...temporalEnv(),
  COUNTERSIGN_STATE_DIR: '/nowhere',
  COUNTERSIGN_DATABASE_URL: setup.databaseUrls.cs_gateway,
  COUNTERSIGN_OPERATOR_DATABASE_URL: setup.databaseUrls.cs_operator,
  COUNTERSIGN_TRUST_FILE: setup.trustFile,
  COUNTERSIGN_EXTENSIONS: 'test/support/shop-extension.ts',
});
