import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import type { Plan } from '../../policy/contracts/plan';
import { MISSING_RECORD } from './attested';

/**
 * Whether the disclosed finding equals the recomputed one. One exception: the confirmation of an ERROR that is not reproducible
 * also covers ALLOW or the same ERROR now, but only if it was disclosed as an ERROR of the same validator.
 */
export function agrees(plan: Plan, shown: ValidatorFinding, now: ValidatorFinding): boolean {
  if (canonicalJson(shown) === canonicalJson(now)) return true;
  // Must have the status that the assembly gives to an error, so that a forged ALLOW is not accepted as one.
  const level = plan.validators.find((v) => v.id === now.validator_id)?.level;
  return (
    shown.status === (level === 'advise' ? 'WARN' : 'BLOCK') &&
    isSoftErrorOf(shown, now) &&
    (now.status === 'ALLOW' || isSameError(shown, now))
  );
}

export function isSoftError(shown: ValidatorFinding): boolean {
  return shown.errorClass !== undefined && shown.reproducible === false;
}

function isSoftErrorOf(shown: ValidatorFinding, now: ValidatorFinding): boolean {
  const sameValidator =
    shown.validator_id === now.validator_id &&
    shown.class === now.class &&
    shown.phase === now.phase &&
    shown.logic_hash === now.logic_hash;
  return sameValidator && isSoftError(shown);
}

function isSameError(shown: ValidatorFinding, now: ValidatorFinding): boolean {
  if (now.status !== shown.status || now.errorClass === undefined || now.reproducible !== false) return false;
  return now.errorClass === shown.errorClass || now.reasonCode === MISSING_RECORD;
}
