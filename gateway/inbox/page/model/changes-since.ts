import type { VerifiedReview } from '../../../../signing/verified-review';
import { ruleTitle } from './cards';

type Seen = Pick<VerifiedReview, 'status' | 'answers'>;

/** What changed between two readings of a review, for the banner: one sentence each. Empty if nothing that people see changed. */
export function changesSince(before: Seen, after: Seen, person: string): string[] {
  const [old, now] = [before.status, after.status];
  const said: string[] = [];
  if (old.state !== now.state) said.push(stateText(now.state, now.reason));
  if (old.fingerprint !== now.fingerprint && old.fingerprint !== null)
    said.push('The review was disclosed again: what you chose was for the earlier state. Look at it again');
  const known = new Set(before.answers.map(({ digest }) => digest));
  for (const { digest, person: who, decision, violationId } of after.answers) {
    if (known.has(digest)) continue;
    const of = now.violations.find((violation) => violation.violationId === violationId)?.validatorId;
    const rule = of === undefined ? '' : `: ${ruleTitle(of)}`;
    said.push(`${who === person ? 'You' : who} ${DECIDED[decision]}${rule}`);
  }
  if (old.stagingSha !== now.stagingSha && old.stagingSha !== null)
    said.push('The dry run was made again, because its base had changed');
  return said;
}

const DECIDED = { confirm: 'confirmed', reject: 'rejected', retract: 'took a confirmation back' } as const;

function stateText(state: Seen['status']['state'], reason: Seen['status']['reason']): string {
  switch (state) {
    case 'COMMITTED':
      return 'The change was committed';
    case 'ROLLED_BACK':
    case 'COMPENSATED':
      return `The change was rolled back${reason === null ? '' : ` (${reason.replaceAll('_', ' ')})`}`;
    case 'COMMITTING':
      return 'The commit has begun';
    case 'EFFECT_UNKNOWN':
      return 'It is unknown whether the change was applied; an operator must look at the target';
    case 'INTERVENTION_REQUIRED':
      return 'The review waits for answers';
    case 'RUNNING':
      return 'Rules, judge and dry run are at work';
    default:
      return state satisfies never;
  }
}
