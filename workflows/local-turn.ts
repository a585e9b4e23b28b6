import { isCancellation } from '@temporalio/workflow';
import { failureOf } from './failure';

/**
 * At most one local activity of a review runs at a time. Results of two that overlap arrive in separate activations, but a replay
 * delivers them in one, and the code between them would then give its commands in another order
 * (https://github.com/temporalio/sdk-python/issues/1881).
 */
export class LocalTurn {
  #isTaken = false;

  /** Runs `first`, or `later` if another one is running, or if `first` failed and may be repeated. */
  async run<T>(first: () => Promise<T>, later: () => Promise<T>): Promise<T> {
    if (this.#isTaken) return later();
    this.#isTaken = true;
    try {
      return await first();
    } catch (error) {
      if (isCancellation(error) || failureOf(error).final) throw error;
    } finally {
      this.#isTaken = false;
    }
    return later();
  }
}
