import { setTimeout as sleep } from 'node:timers/promises';
import { isUnavailable, type ErrorCode } from '../client/errors';

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 2_000;

export interface Retrying {
  /** Repeats `call` while it fails because a server is unavailable. Throws every other error, and the last one after `withinMs`. */
  <T>(call: () => Promise<T>): Promise<T>;
}

/** `retried` is called with the code of each failed call that is repeated. */
export function retrying(withinMs: number, retried: (code: ErrorCode) => void = () => {}): Retrying {
  return async (call) => {
    const until = performance.now() + withinMs;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
      try {
        return await call();
      } catch (error) {
        if (!isUnavailable(error) || performance.now() > until) throw error;
        retried(error.code);
      }
      await sleep(pause);
    }
  };
}
