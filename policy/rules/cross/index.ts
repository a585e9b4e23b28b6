import type { Pack } from '../pack';
import { digestMismatch, injectionMarker, oversized, unknownTool } from './rules';

/** None of the rules lets anything pass that another one stops. `known`: source tools that rules of ours read. */
export function crossCuttingPack(known: readonly string[]): Pack {
  return {
    name: 'cross-cutting',
    about: 'What concerns a change of any tool: its digest, its tool, its size, and words addressed to a reviewer.',
    rules: [digestMismatch, unknownTool(known), oversized, injectionMarker],
  };
}
