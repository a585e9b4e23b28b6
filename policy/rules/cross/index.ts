import type { Pack } from '../pack';
import { digestMismatch, injectionMarker, longLine, oversized, unknownTool } from './rules';

/** Rules for the diffs of every source tool. `known`: the source tools that the built-in rules read. */
export function crossCuttingPack(known: readonly string[]): Pack {
  return {
    name: 'cross-cutting',
    about: 'Checks for every source tool: the digest, the source tool, the size, and text addressed to a reviewer.',
    rules: [digestMismatch, unknownTool(known), oversized, longLine, injectionMarker],
  };
}
