import { onStopSignal } from '../../workers/on-stop-signal';

/** Resolves on the first signal that asks this process to end. */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => void onStopSignal(() => resolve()));
}
