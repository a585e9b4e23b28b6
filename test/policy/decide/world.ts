import fc from 'fast-check';
import type { AdmittedAnswer } from '../../../policy/contracts/answer';
import type { ValidatorFinding } from '../../../policy/contracts/finding';
import type { Plan, PlanPolicy, PlanValidator } from '../../../policy/contracts/plan';
import type { PolicyCallbackResult } from '../../../policy/contracts/violation';
import type { Decided, DecideInput } from '../../../policy/decide/decide';
import {
  after,
  answerTo,
  decideOn,
  findingsOf,
  planOf,
  planValidator,
  policyOf,
  violationsOf,
  type Says,
} from '../../support/plan';

/** Random inputs for properties of `decide`: a plan, the findings of its validators, and the answers with their times. */

export const PEOPLE = ['ada', 'bob', 'eve'] as const;
/** The requester may be a member of the group; `mallory` is in no group. */
export const EVERYBODY = [...PEOPLE, 'req', 'mallory'] as const;

export interface Voice {
  readonly class: 'POLICY' | 'SAFETY';
  readonly says: Exclude<Says, 'SKIPPED'>;
}

/** An answer identified by validator and policy, not by violation id: a change of the plan changes every violation id. */
export interface Said {
  readonly validator: number;
  readonly policy: number;
  readonly person: (typeof EVERYBODY)[number];
  readonly decision: 'confirm' | 'reject';
  readonly minutes: number;
}

export interface World {
  readonly voices: readonly Voice[];
  readonly policies: readonly Pick<
    PlanPolicy,
    'requiresConfirmation' | 'callback' | 'quorum' | 'fourEyes' | 'deadlineMs' | 'match'
  >[];
  readonly callbacks: Readonly<Record<string, PolicyCallbackResult>>;
  readonly requester: string | null;
  readonly reachable: readonly string[] | null;
  readonly said: readonly Said[];
  readonly atMinutes: number;
  readonly plan: Pick<Plan, 'autoResolve' | 'onJudgeFailure'>;
}

export const HOUR_MS = 3_600_000;

const voice: fc.Arbitrary<Voice> = fc.record({
  class: fc.constantFrom('POLICY', 'POLICY', 'SAFETY'),
  says: fc.constantFrom('ALLOW', 'ALLOW', 'WARN', 'BLOCK', 'ERROR'),
});

const policy: fc.Arbitrary<World['policies'][number]> = fc.record({
  requiresConfirmation: fc.boolean(),
  callback: fc.constantFrom(null, { key: 'ask', version: 'v1' }),
  quorum: fc.integer({ min: 1, max: 2 }),
  fourEyes: fc.boolean(),
  deadlineMs: fc.constantFrom(HOUR_MS, 3 * HOUR_MS),
  match: fc.constantFrom({}, { validatorIds: ['x.v0'] }, { validatorIds: ['x.v1', 'x.v2'] }),
});

/** Biased so that many worlds commit: otherwise properties about commits would be vacuous. */
export const world: fc.Arbitrary<World> = fc.record({
  voices: fc.array(voice, { minLength: 1, maxLength: 4 }),
  policies: fc.array(policy, { maxLength: 3 }),
  callbacks: fc.record(
    {
      p0: fc.record({ passed: fc.boolean(), message: fc.constantFrom(null, 'because') }),
      p1: fc.constant({ passed: true, message: null }),
      p2: fc.constant({ passed: true, message: null }),
    },
    { requiredKeys: ['p1'] },
  ),
  requester: fc.constantFrom(null, 'ada', 'req'),
  reachable: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.subarray([...PEOPLE]) }),
  said: fc.array(
    fc.record({
      validator: fc.nat({ max: 4 }),
      policy: fc.integer({ min: -1, max: 2 }),
      person: fc.constantFrom(...EVERYBODY),
      decision: fc.oneof(
        { weight: 9, arbitrary: fc.constant('confirm' as const) },
        { weight: 1, arbitrary: fc.constant('reject' as const) },
      ),
      minutes: fc.constantFrom(1, 30, 59, 60, 61, 179, 180, 500),
    }),
    { maxLength: 16 },
  ),
  atMinutes: fc.constantFrom(10, 59, 60, 120, 181, 600),
  plan: fc.record({
    autoResolve: fc.constantFrom('any', 'warnOnly'),
    onJudgeFailure: fc.constantFrom('ask', 'forbid'),
  }),
});

export function validatorsOf(w: World): PlanValidator[] {
  return w.voices.map((v, i) => planValidator(`x.v${i}`, { class: v.class }));
}

export function planOfWorld(w: World, validators = validatorsOf(w)): Plan {
  return planOf(validators, { policies: w.policies.map((p, i) => policyOf(`p${i}`, p)), ...w.plan });
}

export interface Asked {
  readonly plan: Plan;
  readonly input: Partial<DecideInput>;
  readonly findings: readonly ValidatorFinding[];
  readonly violations: DecideInput['violations'];
  readonly answers: readonly AdmittedAnswer[];
  readonly decide: (more?: Partial<DecideInput> & { readonly findings?: readonly ValidatorFinding[] }) => Decided;
}

/** The world as input of `decide`. `plan` and `says` may differ from the world's own; answers follow their validator and policy. */
export function ask(w: World, plan = planOfWorld(w), says: Readonly<Record<string, Says>> = saysOf(w)): Asked {
  const findings = findingsOf(plan, says);
  const violations = violationsOf(plan, findings, { callbacks: w.callbacks, requester: w.requester });
  const answers = w.said.flatMap((s) => {
    const key = s.policy === -1 ? 'implicit' : `p${s.policy}`;
    const violation = violations.find((v) => v.validatorId === `x.v${s.validator}` && v.policyKey === key);
    return violation === undefined ? [] : [answerTo(violation, s.decision, s.person, { admittedAt: after(s.minutes) })];
  });
  const input = { violations, answers, requester: w.requester, reachable: w.reachable, at: after(w.atMinutes) };
  return {
    plan,
    input,
    findings,
    violations,
    answers,
    decide: (more = {}) => decideOn(plan, more.findings ?? findings, { ...input, ...more }),
  };
}

export function saysOf(w: World): Record<string, Says> {
  return Object.fromEntries(w.voices.map((v, i) => [`x.v${i}`, v.says]));
}
