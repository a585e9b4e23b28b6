import { NativeConnection, type NativeConnectionOptions } from '@temporalio/worker';
import type { SecureClientSessionOptions } from 'node:http2';
import type { Env } from '../config';
import type { Logger } from '../logger';
import { connectConfig, openClient } from '../temporal';
import { connectWorker, type WorkerConnection } from '../worker-connection';
import { disposeOf, refuseQuery } from './dispose';
import { startScreeningProxy } from './screening-proxy';

/**
 * The connection of a worker that runs workflows: through a proxy in this process that keeps from the core the
 * tasks that it cannot handle. With an HTTP proxy in the configuration it connects directly, and says so.
 */
export async function connectScreened(
  env: Env,
  logger: Pick<Logger, 'warn' | 'error'>,
): Promise<WorkerConnection & { readonly closeProxy: () => Promise<void> }> {
  const { connectionOptions = {}, namespace = 'default' } = connectConfig(env);
  const options: NativeConnectionOptions = connectionOptions;
  if (options.proxy !== undefined) {
    logger.warn({}, 'Workflow tasks and queries are not screened, because an HTTP proxy leads to the Temporal server');
    return { ...(await connectWorker(env)), closeProxy: async () => undefined };
  }
  const client = openClient(env);
  const secure =
    options.tls === undefined || options.tls === null ? options.apiKey !== undefined : options.tls !== false;
  const proxy = await startScreeningProxy({
    upstream: `${secure ? 'https' : 'http'}://${options.address ?? 'localhost:7233'}`,
    tls: tlsOf(options.tls),
    onPoisoned: (task) => void disposeOf(task, client, logger),
    onRefusedQuery: (task) => void refuseQuery(task, client, logger),
    onError: (error) => logger.warn({ error: String(error) }, 'The connection to the Temporal server failed'),
  });
  const closeProxy = async (): Promise<void> => {
    await proxy.close();
    await client.connection.close();
  };
  try {
    const connection = await NativeConnection.connect({
      ...options,
      address: proxy.address,
      tls: false,
      grpcCompression: { codec: 'none' },
      metadata: { ...options.metadata, ...proxy.metadata },
    });
    return { connection, namespace, closeProxy };
  } catch (error) {
    await closeProxy();
    throw error;
  }
}

function tlsOf(tls: NativeConnectionOptions['tls']): SecureClientSessionOptions {
  if (typeof tls !== 'object' || tls === null) return {};
  const { serverNameOverride, serverRootCACertificate, clientCertPair } = tls;
  return {
    ...(serverNameOverride === undefined ? {} : { servername: serverNameOverride }),
    ...(serverRootCACertificate === undefined ? {} : { ca: Buffer.from(serverRootCACertificate) }),
    ...(clientCertPair == null ? {} : { cert: Buffer.from(clientCertPair.crt), key: Buffer.from(clientCertPair.key) }),
  };
}
