import { canonicalJson } from '../../policy/contracts/canonical-json';
import { ValidatorFinding } from '../../policy/contracts/finding';
import type { Plan } from '../../policy/contracts/plan';
import { findingsSha } from '../../policy/decide/findings';
import type { StoredRow } from '../../policy/evidence/chain';
import { MISSING_RECORD } from './recomputed-outcomes';

interface DisclosedRow {
  readonly findings: readonly ValidatorFinding[];
  readonly fingerprint: string;
  readonly at: string;
}

export function readDisclosed(rows: readonly StoredRow[]): DisclosedRow | null | 'unreadable' {
  const stored = rows.find((r) => r.row.kind === 'disclosed');
  if (stored === undefined) return null;
  const findings = ValidatorFinding.array().safeParse(stored.row.body['findings']);
  const bound = stored.row.body['fingerprint'];
  return findings.success && typeof bound === 'string'
    ? { findings: findings.data, fingerprint: bound, at: stored.row.at }
    : 'unreadable';
}

/**
 * C2 and C3 of `verify-change.ts`: the array as it was disclosed, where the recomputed one agrees; null where it does not.
 * With nothing disclosed the recomputed one stands, and any finding that fires in it will be refused later.
 */
export function settleErrors(
  plan: Plan,
  recomputed: readonly ValidatorFinding[],
  disclosed: readonly ValidatorFinding[] | null,
): readonly ValidatorFinding[] | null {
  if (disclosed === null) return recomputed;
  if (disclosed.length !== recomputed.length) return null;
  const agreed = recomputed.every((now, i) => {
    const shown = disclosed[i];
    if (shown === undefined) return false;
    if (canonicalJson(shown) === canonicalJson(now)) return true;
    // What the assembly makes of an error; only its words may differ. A forged ALLOW or SAFETY in its place was never an error.
    const status = plan.validators[i]?.level === 'advise' ? 'WARN' : 'BLOCK';
    return shown.status === status && isSoftErrorOf(shown, now) && (now.status === 'ALLOW' || isSameError(shown, now));
  });
  return agreed ? disclosed : null;
}

function isSoftErrorOf(shown: ValidatorFinding, now: ValidatorFinding): boolean {
  const sameValidator =
    shown.validator_id === now.validator_id &&
    shown.class === now.class &&
    shown.phase === now.phase &&
    shown.logic_hash === now.logic_hash;
  return sameValidator && shown.errorClass !== undefined && shown.reproducible === false;
}

function isSameError(shown: ValidatorFinding, now: ValidatorFinding): boolean {
  if (now.status !== shown.status || now.errorClass === undefined || now.reproducible !== false) return false;
  return now.errorClass === shown.errorClass || now.reasonCode === MISSING_RECORD;
}

export function differenceText(
  recomputed: readonly ValidatorFinding[],
  disclosed: readonly ValidatorFinding[],
): string {
  const differing = recomputed.filter(
    (f, i) => disclosed[i] === undefined || findingsSha([f]) !== findingsSha([disclosed[i]]),
  );
  return `The committer finds otherwise than was disclosed: ${differing.map((f) => `${f.validator_id} ${f.status}`).join(', ')}`;
}
