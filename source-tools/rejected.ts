import type { Staged } from '../policy/contracts/target-effects';

/** The target, or its adapter, refuses the change. */
export function rejected(explanation: string): Staged {
  return { kind: 'rejected', explanation };
}
