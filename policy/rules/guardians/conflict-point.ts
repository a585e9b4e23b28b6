import type { RuleOutcome, ValidatorInput } from '../define';
import { defineGuardian } from './define-guardian';
import { coveredBy, Resources, touchedUnknown } from './resources';

/** Fires if a change touches a resource that the team protects: tables, paths and JSON pointers. */
export const conflictPoint = defineGuardian({
  name: 'conflict_point',
  logicRevision: 3,
  config: Resources,
  phase: 'preflight',
  reads: ['facts', 'touched'],
  why: 'Some tables, paths and fields must not be changed without a review.',
  apply,
});

function apply(input: ValidatorInput<Resources>): RuleOutcome {
  const touched = input.tool.touched;
  if (touched === null) return touchedUnknown(input);
  const hits = touched.filter((t) => coveredBy(input.config, t) !== null);
  if (hits.length === 0) return { fires: false };
  const names = [...new Set(hits.map((t) => t.text))];
  return {
    fires: true,
    reason: `The change touches protected resources: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ` and ${names.length - 10} more` : ''}`,
    reasonCode: 'protected',
    evidence: [...new Set(hits.map((t) => t.evidence))],
    details: { protectedBy: [...new Set(hits.flatMap((t) => coveredBy(input.config, t) ?? []))] },
  };
}
