import type { AdmittedAnswer } from '../../policy/contracts/answer';
import type { ErrorClass, HookClass, ValidatorFinding, ValidatorResult } from '../../policy/contracts/finding';
import { logicHash, planHash, type Plan, type PlanPolicy, type PlanValidator } from '../../policy/contracts/plan';
import type { PolicyCallbackResult, PolicyViolation } from '../../policy/contracts/violation';
import { decide, DECIDE_REVISION, type Decided, type DecideInput } from '../../policy/decide/decide';
import { buildViolations, callbackKey, matchPolicies, type CallbackResults } from '../../policy/decide/violations';

/** Small valid plans, findings and answers for tests of the decision core. Each member can be replaced. */

export const DISCLOSED_AT = '2026-01-02T00:00:00.000Z';
export const HOUR = 3_600_000;

/** `minutes` after the disclosure. */
export function after(minutes: number): string {
  return new Date(Date.parse(DISCLOSED_AT) + minutes * 60_000).toISOString();
}

export const INPUT_SHA = '1'.repeat(64);
export const CHANGE_ID = '2'.repeat(64);

export function planValidator(id: string, more: Partial<PlanValidator> = {}): PlanValidator {
  const hookClass: HookClass = id.startsWith('safety.') ? 'SAFETY' : 'POLICY';
  const base = {
    id,
    version: 'v1',
    class: hookClass,
    level: hookClass === 'SAFETY' ? ('forbid' as const) : ('confirm' as const),
    phase: 'preflight' as const,
    kind: 'derived' as const,
    unit: id.split('.')[1] ?? id,
    implementation: id.split('.')[1] ?? id,
    needsStaging: false,
    config: {},
    logicRevision: 1,
    ...more,
  };
  return { ...base, logic_hash: more.logic_hash ?? logicHash({ ...base, parser: null }) };
}

export const JUDGE = planValidator('guardian.llm_judge', { kind: 'attested' });

const NEED = {
  group: 'dba',
  quorum: 1,
  fourEyes: true,
  deadlineMs: 24 * HOUR,
  confirmationMessage: 'A person must confirm this change.',
};

export function policyOf(key: string, more: Partial<PlanPolicy> = {}): PlanPolicy {
  return {
    key,
    name: key,
    match: {},
    requiresConfirmation: true,
    triggerCardinality: null,
    callback: null,
    metadata: {},
    ...NEED,
    ...more,
  };
}

export function planOf(validators: readonly PlanValidator[], more: Partial<Plan> = {}): Plan {
  return {
    decideRevision: DECIDE_REVISION,
    domain: 'shop',
    provider: 'openai',
    model: 'gpt-x',
    mode: 'enforced',
    target: 'shop',
    sourceTool: 'SQLDryRun',
    development: false,
    inlineBytes: false,
    answers: 'signed',
    judgeWhen: 'unlessHardBlock',
    onJudgeFailure: 'ask',
    autoResolve: 'any',
    commitWindowMs: 15 * 60_000,
    staging: {},
    validators: [...validators],
    shadow: [],
    policies: [],
    implicitPolicy: NEED,
    groups: { dba: { members: ['ada', 'bob', 'eve'] } },
    waivers: [],
    ...more,
  };
}

export type Says = 'ALLOW' | 'WARN' | 'BLOCK' | 'ERROR' | 'SKIPPED';

/** A finding of one validator, as `assembleFindings` returns it. */
export function findingOf(
  validator: PlanValidator,
  says: Says,
  more: Partial<ValidatorFinding> = {},
): ValidatorFinding {
  const { id, phase, logic_hash } = validator;
  const error = says === 'ERROR' ? { errorClass: 'ErrValidatorBackend' as ErrorClass, reproducible: false } : {};
  return {
    validator_id: id,
    phase,
    class: validator.class,
    status: says === 'ERROR' ? 'BLOCK' : says,
    reason: says === 'ALLOW' ? '' : `${id} says ${says}`,
    evidenceRefs: says === 'ALLOW' || says === 'SKIPPED' ? [] : [`review:${CHANGE_ID}`],
    logic_hash,
    ...error,
    ...(says === 'SKIPPED' ? { reasonCode: 'judge_when' } : {}),
    ...more,
  };
}

/** A result of one validator, before assembly. */
export function resultOf(id: string, says: Exclude<Says, 'SKIPPED'>, more: object = {}): ValidatorResult {
  const error = says === 'ERROR' ? { errorClass: 'ErrValidatorBackend' as ErrorClass, reproducible: false } : {};
  const evidenceRefs = says === 'ALLOW' ? [] : [`review:${CHANGE_ID}`];
  const reason = says === 'ALLOW' ? '' : `${id} says ${says}`;
  return {
    validator_id: id,
    status: says === 'ERROR' ? 'BLOCK' : says,
    reason,
    evidenceRefs,
    ...error,
    ...more,
  } as ValidatorResult;
}

/** Findings in the plan's order. `says` gives the status by validator; the others ALLOW. */
export function findingsOf(plan: Plan, says: Readonly<Record<string, Says>> = {}): ValidatorFinding[] {
  return plan.validators.map((validator) => findingOf(validator, says[validator.id] ?? 'ALLOW'));
}

export interface Asked {
  readonly callbacks?: Readonly<Record<string, PolicyCallbackResult>>;
  readonly requester?: string | null;
}

/** The violations that would be disclosed. `callbacks`: results by policy key, used for every finding that triggers the policy. */
export function violationsOf(plan: Plan, findings: readonly ValidatorFinding[], asked: Asked = {}): PolicyViolation[] {
  const triggered = matchPolicies(plan, findings, null);
  const callbackResults: CallbackResults = Object.fromEntries(
    triggered.flatMap((t) => {
      const result = t.callback === null ? undefined : asked.callbacks?.[t.policyKey];
      return result === undefined ? [] : [[callbackKey(t), result] as const];
    }),
  );
  const requester = asked.requester === undefined ? 'req' : asked.requester;
  return buildViolations({
    plan,
    planHash: hashOf(plan),
    inputSha: INPUT_SHA,
    findings,
    triggered,
    callbackResults,
    requester,
  });
}

const hashes = new WeakMap<Plan, string>();

/** Memoized `planHash`: property tests need it thousands of times. */
function hashOf(plan: Plan): string {
  const known = hashes.get(plan) ?? planHash(plan);
  hashes.set(plan, known);
  return known;
}

export function answerTo(
  violation: Pick<PolicyViolation, 'violationId'>,
  decision: AdmittedAnswer['decision'],
  person = 'ada',
  more: Partial<AdmittedAnswer> = {},
): AdmittedAnswer {
  const at = more.admittedAt ?? after(5);
  return {
    violationId: violation.violationId,
    fingerprint: '3'.repeat(64),
    decision,
    person,
    signed: true,
    reason: '',
    issuedAt: at,
    retracts: null,
    admittedAt: at,
    digest: '4'.repeat(64),
    ...more,
  };
}

/** `decide` an hour after the disclosure, with every approver reachable. `more` replaces members of its input. */
export function decideOn(
  plan: Plan,
  findings: readonly ValidatorFinding[],
  more: Partial<DecideInput> & Asked = {},
): Decided {
  const { callbacks, requester = 'req', violations, ...rest } = more;
  return decide({
    plan,
    findings,
    violations:
      violations ?? violationsOf(plan, findings, { ...(callbacks === undefined ? {} : { callbacks }), requester }),
    answers: [],
    requester,
    reachable: ['ada', 'bob', 'eve'],
    disclosedAt: DISCLOSED_AT,
    at: after(60),
    ...rest,
  });
}

/** COMMIT < WAIT < ROLLBACK: the order in which results get stricter. */
export function strictness(decided: Decided): number {
  return { COMMIT: 0, WAIT: 1, ROLLBACK: 2 }[decided.action];
}

export function reasonOf(decided: Decided): string {
  return decided.action === 'ROLLBACK' ? decided.reason : decided.action;
}
