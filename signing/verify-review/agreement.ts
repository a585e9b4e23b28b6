import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import type { Plan } from '../../policy/contracts/plan';
import { MISSING_RECORD } from './attested';

/**
 * Whether the finding that people were shown is what comes out now. One exception: an ERROR that is not reproducible. Its
 * confirmation covers ALLOW or the same ERROR now, nothing else; and it was shown as an ERROR of this very validator.
 */
export function agrees(plan: Plan, shown: ValidatorFinding, now: ValidatorFinding): boolean {
  if (canonicalJson(shown) === canonicalJson(now)) return true;
  // What the assembly makes of an error; only its words may differ. A forged ALLOW or SAFETY in its place was never an error.
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
