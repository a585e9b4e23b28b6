import { Client, Connection, type ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { PayloadCodec } from '@temporalio/common';
import { errorMessage } from '../policy/contracts/error-message';
import type { Env } from './config';
import { payloadKeys } from './encryption/key-ring';
import { createPayloadCodec } from './encryption/payload-codec';

/**
 * Address, namespace, TLS and API key from Temporal's variables (TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TLS_*,
 * TEMPORAL_API_KEY) and profile file.
 */
export function connectConfig(env: Env): ReturnType<typeof loadClientConnectConfig> {
  const overrideEnvVars = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return loadClientConnectConfig({ overrideEnvVars });
}

/** Encrypts payloads if COUNTERSIGN_PAYLOAD_KEYS_FILE is set. */
export function dataConverter(env: Env): { readonly dataConverter?: { readonly payloadCodecs: PayloadCodec[] } } {
  const keys = payloadKeys(env);
  return keys === null ? {} : { dataConverter: { payloadCodecs: [createPayloadCodec(keys)] } };
}

/** Connects, or throws within `connectTimeout` ms. TEMPORAL_ADDRESS takes precedence over a profile. */
export async function openConnection(env: Env, connectTimeout = 10_000): Promise<Connection> {
  const { connectionOptions } = connectConfig(env);
  return await Connection.connect({ ...(connectionOptions as ConnectionOptions), connectTimeout });
}

/** Runs `work` with a connection that is closed afterwards. The error of a failed connection names the address. */
export async function withConnection<T>(
  env: Env,
  work: (connection: Connection) => Promise<T>,
  connectTimeout?: number,
): Promise<T> {
  const connection = await openConnection(env, connectTimeout).catch((error: unknown) => {
    const { address = 'the default address' } = connectConfig(env).connectionOptions;
    throw new Error(`Temporal at ${address}: ${errorMessage(error)}`, { cause: error });
  });
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

/** After an outage the client connects again within this time; the default is two minutes. */
const LONGEST_BACKOFF_MS = 5_000;

/** Connects lazily: an outage at start makes the first call fail, with the error of that call. */
export function openClient(env: Env): Client {
  const { connectionOptions, namespace = 'default' } = connectConfig(env);
  const channelArgs = { 'grpc.max_reconnect_backoff_ms': LONGEST_BACKOFF_MS };
  const connection = Connection.lazy({ ...connectionOptions, channelArgs } as ConnectionOptions);
  return new Client({ connection, namespace, ...dataConverter(env) });
}
