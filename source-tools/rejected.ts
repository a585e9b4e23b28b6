import type { JsonObject } from '../policy/contracts/canonical-json';
import type { Staged } from '../policy/contracts/target-effects';

/** The target, or its adapter, refuses the change. */
export function rejected(explanation: string, sqlstate: string | null = null, preview: JsonObject = {}): Staged {
  return { kind: 'rejected', explanation, sqlstate, preview };
}
