import { setTimeout as sleep } from 'node:timers/promises';
import { defaultGrpcRetryOptions, makeGrpcRetryInterceptor, type ConnectionOptions } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

/**
 * Counts the calls of one connection. If a connection is closed while a call is in flight, the SDK's retry of that call throws in
 * a timer, where no caller can catch it, and ends the process. `drained` waits until no call is in flight, at most `withinMs`.
 */
export function callsInFlight(): {
  readonly interceptors: Interceptor[];
  readonly drained: (withinMs: number) => Promise<void>;
} {
  let inFlight = 0;
  const count: Interceptor = (options, nextCall) => {
    const call = nextCall(options);
    const start = call.start.bind(call);
    call.start = (metadata, listener) => {
      inFlight++;
      start(metadata, {
        ...listener,
        onReceiveStatus(status) {
          inFlight--;
          listener?.onReceiveStatus?.(status);
        },
      });
    };
    return call as ReturnType<Interceptor>;
  };
  return {
    interceptors: [count, makeGrpcRetryInterceptor(defaultGrpcRetryOptions())],
    async drained(withinMs) {
      for (const until = Date.now() + withinMs; inFlight > 0 && Date.now() < until;) await sleep(20);
    },
  };
}
