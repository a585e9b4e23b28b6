import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import type { Plan } from '../../policy/contracts/plan';
import { assembleFindings, COMPUTED_BY_ASSEMBLY, type RawOutcome, type SkipReason } from '../../policy/decide/findings';
import { resultOf, waivingOf } from '../../policy/evidence/recorded-findings';
import type { FindingDifference, ReplayReport } from '../../policy/evidence/reports';
import { agrees, isSoftError } from './agreement';
import { attestedOutcome } from './findings';
import { fail, fileOf, NEVER_OPENED, openedOf, supplied, type OpenedReview } from './checking';
import type { Passed, Review } from './record';

/** Runs the rules again: all findings must be identical, byte for byte. */
export function checkRecomputed(review: Review): Passed {
  const opened = openedOf(review);
  if (opened === null) return [NEVER_OPENED];
  const derived = supplied(review.sources.derived, 'rules were not run; "countersign replay" runs them');
  const recorded = review.sources.context === 'replay' ? fileOf(review).findings : review.need('findings');
  const made = recompute(review, opened, recorded, derived);
  const comparison = compare(opened, recorded, made, {
    recomputed: Object.keys(derived).length,
    committed: review.end?.action === 'COMMIT',
  });
  review.keep({ comparison });
  if (!comparison.equal) fail(differenceText(comparison, recorded, made));
  return [`${comparison.recomputed} of ${recorded.length} findings computed again, byte for byte`];
}

/** Selects the derived validators that must be run again: all of them for a commit, otherwise those that ran. */
export function mustRunAgain(recorded: readonly ValidatorFinding[], committed: boolean): (id: string) => boolean {
  const ran = new Set(recorded.filter((f) => f.status !== 'SKIPPED').map((f) => f.validator_id));
  return (id) => committed || ran.has(id);
}

function recompute(
  review: Review,
  opened: OpenedReview,
  recorded: readonly ValidatorFinding[],
  derived: Readonly<Record<string, unknown>>,
): readonly ValidatorFinding[] {
  const { plan, changeId } = opened;
  const committed = review.end?.action === 'COMMIT';
  const outcomes = new Map<string, RawOutcome>();
  for (const validator of plan.validators) {
    const { id } = validator;
    const finding = recorded.find((f) => f.validator_id === id);
    if (COMPUTED_BY_ASSEMBLY.has(id)) continue;
    if (id in derived) outcomes.set(id, { kind: 'result', result: derived[id] });
    else if (validator.kind === 'attested' && committed && review.known('records'))
      outcomes.set(id, attestedOutcome(validator, review, opened));
    else if (finding !== undefined && (validator.kind === 'attested' || (finding.status === 'SKIPPED' && !committed)))
      outcomes.set(id, asRecorded(finding));
  }
  const made = assembleFindings({ plan, changeId, outcomes, waiving: waivingOf(review.rows) });
  const isRecorded = (id: string): boolean => recorded.some((f) => f.validator_id === id);
  return made.filter((f) => committed || outcomes.has(f.validator_id) || isRecorded(f.validator_id));
}

function asRecorded(finding: ValidatorFinding): RawOutcome {
  return finding.status === 'SKIPPED'
    ? { kind: 'skipped', reasonCode: (finding.reasonCode ?? '') as SkipReason }
    : { kind: 'result', result: resultOf(finding) };
}

function compare(
  { plan, changeId }: OpenedReview,
  recorded: readonly ValidatorFinding[],
  made: readonly ValidatorFinding[],
  of: { readonly recomputed: number; readonly committed: boolean },
): ReplayReport {
  const ids = [...new Set([...recorded, ...made].map((f) => f.validator_id))];
  const notReproducible: string[] = [];
  const differences: FindingDifference[] = [];
  for (const validatorId of ids) {
    const was = recorded.find((f) => f.validator_id === validatorId);
    const is = made.find((f) => f.validator_id === validatorId);
    const [a, b] = [was, is].map((f) => (f === undefined ? null : canonicalJson(f)));
    if (a === b) continue;
    if (was !== undefined && isCovered(plan, was, is, of.committed)) notReproducible.push(validatorId);
    else differences.push({ validatorId, recorded: a ?? null, recomputed: b ?? null });
  }
  const order = (findings: readonly ValidatorFinding[]): string => findings.map((f) => f.validator_id).join('\n');
  const equal = differences.length === 0 && order(recorded) === order(made);
  return { changeId, equal, recomputed: of.recomputed, findings: recorded.length, notReproducible, differences };
}

/** A confirmed ERROR covers ALLOW or the same ERROR. In a review that committed nothing, every new result is accepted. */
function isCovered(plan: Plan, was: ValidatorFinding, is: ValidatorFinding | undefined, committed: boolean): boolean {
  return committed ? is !== undefined && agrees(plan, was, is) : isSoftError(was);
}

function differenceText(
  { differences }: ReplayReport,
  recorded: readonly ValidatorFinding[],
  made: readonly ValidatorFinding[],
): string {
  if (differences.length === 0)
    return `expected ${recorded.length} findings in the recorded order, got ${made.length} in this order`;
  const changed = differences.map(
    ({ validatorId }) => `${validatorId} ${made.find((f) => f.validator_id === validatorId)?.status ?? 'is missing'}`,
  );
  return `the recomputed findings differ from the recorded ones: ${changed.join(', ')}`;
}
