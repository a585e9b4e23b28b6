import type { RuleOutcome, ValidatorInput } from '../define';
import { defineGuardian, wholeDiff } from './define-guardian';
import { coveredBy, Resources } from './resources';
import { unreadable } from './unreadable';

/** A change of something that the team marked as a point of conflict: protected tables, paths and pointers (G26). */
export const conflictPoint = defineGuardian({
  name: 'conflict_point',
  logicRevision: 1,
  config: Resources,
  phase: 'preflight',
  reads: ['facts', 'touched'],
  why: 'Some tables, paths and fields are nobody’s to change alone.',
  apply,
});

function apply(input: ValidatorInput<Resources>): RuleOutcome {
  const touched = input.tool.touched;
  if (touched === null)
    return {
      fires: true,
      reason: unreadable(input.facts),
      reasonCode: 'facts_missing',
      evidence: [wholeDiff(input.diff.diffSha)],
    };
  const hits = touched.filter((t) => coveredBy(input.config, t) !== null);
  if (hits.length === 0) return { fires: false };
  const names = [...new Set(hits.map((t) => t.text))];
  return {
    fires: true,
    reason: `The change touches what is protected: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ` and ${names.length - 10} more` : ''}`,
    reasonCode: 'protected',
    evidence: [...new Set(hits.map((t) => t.evidence))],
    details: { protectedBy: [...new Set(hits.flatMap((t) => coveredBy(input.config, t) ?? []))] },
  };
}
