import type { Client } from '@temporalio/client';

/** One call to the fake Temporal client. */
export interface Call {
  readonly name: string;
  readonly workflowId: string;
  readonly args: readonly unknown[];
}

export interface Script {
  readonly executeUpdateWithStart?: (name: string, options: StartCall) => unknown;
  readonly executeUpdate?: (name: string, args: readonly unknown[]) => unknown;
  readonly signal?: (name: string, args: readonly unknown[]) => unknown;
  readonly query?: (name: string) => unknown;
  readonly describe?: () => unknown;
  readonly result?: () => unknown;
}

/** Arguments of update-with-start. */
export interface StartCall {
  readonly updateId?: string;
  readonly startWorkflowOperation: { readonly workflowTypeOrFunc: unknown; readonly options: Record<string, unknown> };
}

/** A Temporal client with scripted responses. A call without a script fails the test. Deadlines are recorded, not enforced. */
export function fakeTemporal(script: Script): { client: Client; calls: Call[]; deadlines: number[] } {
  const calls: Call[] = [];
  const deadlines: number[] = [];
  const answer = async <K extends keyof Script>(
    name: K,
    workflowId: string,
    args: readonly unknown[],
    ask: (does: NonNullable<Script[K]>) => unknown,
  ): Promise<unknown> => {
    calls.push({ name, workflowId, args });
    const does = script[name];
    if (does === undefined) throw new Error(`not expected here: ${name}()`);
    return await ask(does);
  };
  const client = {
    withDeadline: async (deadline: number, call: () => Promise<unknown>) => {
      deadlines.push(deadline - Date.now());
      return await call();
    },
    withAbortSignal: async (signal: AbortSignal, call: () => Promise<unknown>) => {
      const aborted = new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(grpcError(1, 'Call cancelled'))),
      );
      return await Promise.race([call(), aborted]);
    },
    workflow: {
      executeUpdateWithStart: async (name: string, options: StartCall) =>
        await answer(
          'executeUpdateWithStart',
          String(options.startWorkflowOperation.options['workflowId']),
          [name, options],
          (does) => does(name, options),
        ),
      getHandle: (workflowId: string) => ({
        executeUpdate: async (name: string, { args }: { args: unknown[] }) =>
          await answer('executeUpdate', workflowId, [name, ...args], (does) => does(name, args)),
        signal: async (name: string, ...args: unknown[]) =>
          await answer('signal', workflowId, [name, ...args], (does) => does(name, args)),
        query: async (name: string) => await answer('query', workflowId, [name], (does) => does(name)),
        describe: async () => await answer('describe', workflowId, [], (does) => does()),
        result: async () => await answer('result', workflowId, [], (does) => does()),
      }),
    },
  };
  return { client: client as unknown as Client, calls, deadlines };
}

/** A gRPC error like those of @grpc/grpc-js, wrapped as in the SDK. */
export function grpcError(code: number, details: string): Error {
  const cause = Object.assign(new Error(details), { code, details, metadata: {} });
  return Object.assign(new Error(details, { cause }), { name: 'ServiceError' });
}

export const RUNNING = { status: { name: 'RUNNING' } };
export const CLOSED = { status: { name: 'COMPLETED' } };
