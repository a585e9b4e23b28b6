import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Worker,
  type WorkerOptions,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';

/** The code of the workflows of a file, for a worker. */
export function bundleWorkflows(
  workflowsPath: string,
  interceptorModules: readonly string[] = [],
): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: [...interceptorModules],
    logger: new DefaultLogger('ERROR'),
  });
}

/** Runs a worker on its own connection until `stop` is called. */
export async function startWorker(
  address: string,
  options: Omit<WorkerOptions, 'connection'>,
): Promise<{ readonly stop: () => Promise<void> }> {
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({ ...options, connection });
  const ended = worker.run();
  return {
    async stop() {
      worker.shutdown();
      await ended;
      await connection.close();
    },
  };
}
