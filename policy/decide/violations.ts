import { typedHash, type Sha256 } from '../contracts/hash';
import type { ValidatorFinding } from '../contracts/finding';
import type { ReviewFinding, ReviewPlan } from '../contracts/history-plan';
import type { Cardinality, PlanPolicy } from '../contracts/plan';
import { fires, touchedRows } from '../contracts/readings';
import type { StagingRecord } from '../contracts/staging-record';
import type { PolicyCallbackResult, PolicyViolation } from '../contracts/violation';
import { findingsSha } from './findings';

export const IMPLICIT_POLICY = 'implicit';

/** One policy that matches one finding; `callback` is null if the policy has none. */
export interface TriggeredPolicy {
  readonly findingIndex: number;
  readonly policyKey: string;
  readonly callback: PlanPolicy['callback'];
}

/** One row or several, measured by the dry run; null if unknown. */
export function cardinalityOf(staging: StagingRecord | null): Cardinality | null {
  if (staging === null || !staging.fullyCaptured || staging.origin !== 'measured') return null;
  return touchedRows(staging) > 1 ? 'multiple' : 'single';
}

const CARDINALITIES: readonly Cardinality[] = ['single', 'multiple'];

/**
 * All policies that match, in the order of findings, then in declared order. SAFETY findings match no policy. A POLICY finding without a
 * matching policy gets the implicit one. Unknown cardinality gets what either cardinality would get: otherwise a policy for changes of
 * one row, such as a callback that answers alone, would replace the implicit one for changes of many rows.
 */
export function matchPolicies(
  plan: ReviewPlan,
  findings: readonly ReviewFinding[],
  cardinality: Cardinality | null,
): TriggeredPolicy[] {
  const possible = cardinality === null ? CARDINALITIES : [cardinality];
  return findings.flatMap((finding, findingIndex) => {
    if (finding.class !== 'POLICY' || !fires(finding)) return [];
    const covering = plan.policies.filter((policy) => covers(policy, plan.sourceTool, finding.validator_id));
    const matching = covering.filter((policy) => possible.some((c) => isTriggeredBy(policy, c)));
    const triggered = matching.map(({ key, callback }) => ({ findingIndex, policyKey: key, callback }));
    const isComplete = possible.every((c) => covering.some((policy) => isTriggeredBy(policy, c)));
    return isComplete ? triggered : [...triggered, { findingIndex, policyKey: IMPLICIT_POLICY, callback: null }];
  });
}

function covers({ match }: PlanPolicy, sourceTool: string, validatorId: string): boolean {
  const { validatorIds, sourceTools } = match;
  return (validatorIds?.includes(validatorId) ?? true) && (sourceTools?.includes(sourceTool) ?? true);
}

function isTriggeredBy({ triggerCardinality }: PlanPolicy, cardinality: Cardinality): boolean {
  return triggerCardinality === null || triggerCardinality === cardinality;
}

/** By `callbackKey`. A callback without a result counts as failed. */
export type CallbackResults = Readonly<Record<string, PolicyCallbackResult>>;

export function callbackKey(triggered: Pick<TriggeredPolicy, 'findingIndex' | 'policyKey'>): string {
  return `${triggered.findingIndex}/${triggered.policyKey}`;
}

interface ViolationContext {
  readonly plan: ReviewPlan;
  readonly planHash: Sha256;
  readonly inputSha: Sha256;
  readonly findings: readonly ReviewFinding[];
  readonly triggered: readonly TriggeredPolicy[];
  readonly callbackResults: CallbackResults;
  /** The person behind the submission; null if unknown, and then four eyes need one more person. */
  readonly requester: string | null;
}

/** Violations in the order of `triggered`, with deterministic ids. Does not enforce MAX_VIOLATIONS. */
export function buildViolations(context: ViolationContext): PolicyViolation[] {
  return context.triggered.map((triggered) => {
    const finding = context.findings[triggered.findingIndex];
    const validator = context.plan.validators[triggered.findingIndex];
    if (finding === undefined || validator === undefined)
      throw new RangeError(`No finding at ${triggered.findingIndex}`);
    const policy = policyOf(context.plan, triggered.policyKey);
    const callbackResult = callbackResultOf(triggered, context.callbackResults);
    return {
      violationId: typedHash('violation', {
        planHash: context.planHash,
        inputSha: context.inputSha,
        validatorId: finding.validator_id,
        phase: finding.phase,
        policyKey: triggered.policyKey,
        index: triggered.findingIndex,
      }),
      findingIndex: triggered.findingIndex,
      validatorId: finding.validator_id,
      policyKey: triggered.policyKey,
      message: [callbackResult?.message, policy.confirmationMessage]
        .filter((part) => typeof part === 'string' && part !== '')
        .join('\n'),
      requiresConfirmation: policy.requiresConfirmation,
      callbackResult,
      need: needOf(context.plan, finding, policy.requiresConfirmation, callbackResult),
      group: policy.group,
      // One of the people may be the unknown requester. Omitting the signature must never lower the number of other people.
      quorum: policy.fourEyes && context.requester === null ? policy.quorum + 1 : policy.quorum,
      fourEyes: policy.fourEyes,
      deadlineMs: policy.deadlineMs,
    };
  });
}

function policyOf(
  plan: ReviewPlan,
  key: string,
): ReviewPlan['implicitPolicy'] & { readonly requiresConfirmation: boolean } {
  const policy = plan.policies.find((p) => p.key === key);
  if (policy !== undefined) return policy;
  if (key !== IMPLICIT_POLICY) throw new RangeError(`The plan has no policy "${key}"`);
  return { ...plan.implicitPolicy, requiresConfirmation: true };
}

function callbackResultOf(triggered: TriggeredPolicy, results: CallbackResults): PolicyCallbackResult | null {
  if (triggered.callback === null) return null;
  return (
    results[callbackKey(triggered)] ?? {
      passed: false,
      message: `Callback "${triggered.callback.key}" could not be evaluated`,
    }
  );
}

/** Implements the rows of the decision table for POLICY findings that fire. */
function needOf(
  plan: ReviewPlan,
  finding: ReviewFinding,
  requiresConfirmation: boolean,
  callback: PolicyCallbackResult | null,
): PolicyViolation['need'] {
  if (
    finding.errorClass !== undefined &&
    finding.validator_id === 'guardian.llm_judge' &&
    plan.onJudgeFailure === 'forbid'
  )
    return 'hard';
  if (requiresConfirmation) return 'human';
  if (callback?.passed !== true) return 'hard';
  // A callback never resolves an ERROR: it is unknown what the validator would have found.
  if (finding.errorClass !== undefined) return 'human';
  return plan.autoResolve === 'warnOnly' && finding.status === 'BLOCK' ? 'human' : 'callback';
}

export function callbackResultsSha(results: CallbackResults): Sha256 {
  return typedHash('callback-results', { callbackResults: results });
}

interface Bound {
  readonly changeId: Sha256;
  readonly inputSha: Sha256;
  readonly stagingSha: Sha256 | null;
  readonly planHash: Sha256;
  readonly findingsSha: Sha256;
  readonly callbackResultsSha: Sha256;
  readonly violationIds: readonly Sha256[];
}

/** The hash that an answer is bound to. It changes if anything that people were shown changes. */
export function fingerprint(bound: Bound): Sha256 {
  return typedHash('fingerprint', { ...bound });
}

/** The fingerprint of a disclosure. `violations`: as `buildViolations` returns them for the same findings and callback results. */
export function fingerprintOf(
  { changeId, inputSha, stagingSha, planHash }: Omit<Bound, 'findingsSha' | 'callbackResultsSha' | 'violationIds'>,
  findings: readonly ValidatorFinding[],
  callbackResults: CallbackResults,
  violations: readonly PolicyViolation[],
): Sha256 {
  return fingerprint({
    changeId,
    inputSha,
    stagingSha,
    planHash,
    findingsSha: findingsSha(findings),
    callbackResultsSha: callbackResultsSha(callbackResults),
    violationIds: violations.map(({ violationId }) => violationId),
  });
}
