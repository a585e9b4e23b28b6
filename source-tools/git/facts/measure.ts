import type { DiffMeasure } from '../../../policy/contracts/source-tool';
import type { GitPatchFacts } from './git-facts';

/** Rows are added and removed lines. */
export function measurePatch({ files }: GitPatchFacts): DiffMeasure {
  return {
    operations: files.reduce((sum, { hunks }) => sum + Math.max(1, hunks.length), 0),
    deletions: files.filter(({ change }) => change === 'delete').length,
    rows: files.reduce((sum, { added, removed }) => sum + added + removed, 0),
  };
}
