import type { PackRule } from '../rule-maker';
import { digestMismatch, injectionMarker, oversized, unknownTool } from './rules';

/** What concerns a diff of any tool. None of them lets anything pass that another holds. */
export const crossCuttingRules: readonly PackRule[] = [digestMismatch, unknownTool, oversized, injectionMarker];
