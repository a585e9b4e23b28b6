import type { Plan } from '../contracts/plan';
import type { StagingRecord } from '../contracts/staging-record';
import { eligiblePeople } from '../decide/counted-answers';
import { buildViolations, callbackKey, cardinalityOf, matchPolicies } from '../decide/violations';
import type { Evaluation } from './evaluate';

/** A question to people: which validator fired, which policy asks, and who may answer. */
export interface Asked {
  readonly rule: string;
  readonly policy: string;
  readonly group: string;
  /** How many different people must confirm. */
  readonly quorum: number;
  /** Members of the group, without the requester if the policy demands four eyes. */
  readonly mayAnswer: readonly string[];
}

export interface AskedIn {
  readonly staging: StagingRecord | null;
  /** Null if unknown; then four eyes need one more person. */
  readonly requester: string | null;
  /** Whether each callback passes, by key. One that is absent fails. */
  readonly callbacks: Readonly<Record<string, boolean>>;
}

const NO_HASH = '0'.repeat(64);

/** The questions that a review with this evaluation would ask, in the order of findings and policies. Empty if the change is forbidden. */
export function askedFor(plan: Plan, evaluation: Evaluation, { staging, requester, callbacks }: AskedIn): Asked[] {
  if (evaluation.outcome === 'FORBID') return [];
  const { findings } = evaluation;
  const triggered = matchPolicies(plan, findings, cardinalityOf(staging));
  const callbackResults = Object.fromEntries(
    triggered.flatMap((each) => {
      const passed = each.callback === null ? undefined : callbacks[each.callback.key];
      return passed === undefined ? [] : [[callbackKey(each), { passed, message: null }]];
    }),
  );
  const ids = { planHash: NO_HASH, inputSha: NO_HASH };
  const violations = buildViolations({ plan, ...ids, findings, triggered, callbackResults, requester });
  if (violations.some(({ need }) => need === 'hard')) return [];
  return violations
    .filter(({ need }) => need === 'human')
    .map((violation) => ({
      rule: violation.validatorId,
      policy: violation.policyKey,
      group: violation.group,
      quorum: violation.quorum,
      mayAnswer: eligiblePeople(violation, { groups: plan.groups, requester }),
    }));
}
