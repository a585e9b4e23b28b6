import type { Staged } from '../policy/contracts/target-effects';

/** The target, or its adapter, does not accept the change. */
export function rejected(explanation: string): Staged {
  return { kind: 'rejected', explanation };
}

/** The target has changed since the author of the change read it: a new change, made after reading it again, may succeed. */
export function rejectedAsStale(explanation: string): Staged {
  return { kind: 'rejected', stale: true, explanation };
}
