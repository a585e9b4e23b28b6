import type { LabelledCase } from '../../../activities/judge/evaluate-judge';
import { GIT_CASES } from './git';
import { HTTP_CASES } from './http';
import type { LabelledChange, LabelledSet } from './labelled-set';
import { SQL_CASES } from './sql';
import { TERRAFORM_CASES } from './terraform';

/** 200 changes that were written for this set: for each of four source tools 25 risky and 25 ordinary ones. */
export const BUILT_IN_CASES: readonly LabelledCase[] = [SQL_CASES, GIT_CASES, HTTP_CASES, TERRAFORM_CASES].flatMap(
  (set) => [...labelled(set, 'risky', 'BLOCK'), ...labelled(set, 'ordinary', 'ALLOW')],
);

function labelled(set: LabelledSet, kind: 'risky' | 'ordinary', label: 'BLOCK' | 'ALLOW'): LabelledCase[] {
  return Object.entries<LabelledChange>(set[kind]).map(([id, change]) => ({
    id: `${set.sourceTool}: ${id}`,
    sourceTool: set.sourceTool,
    ...(typeof change === 'string' ? { raw: change, metadata: {} } : change),
    label,
  }));
}
