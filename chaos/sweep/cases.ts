import { pick, seededRandom } from '../seeded-random';
import { COMMITTED, outcomesAfter, rolledBack, type Outcome } from './outcomes';
import { ACTIONS, faultText, POINTS, RULES_POINT, TARGET_POINTS, type Action, type Fault, type When } from './points';
import { SCENARIOS, type Scenario } from './scenarios';

/** One review of the sweep and its faults. `--only <name>` runs it again. */
export interface Case {
  readonly name: string;
  readonly scenario: Scenario;
  readonly faults: readonly Fault[];
  /** The allowed outcomes. Null: any outcome that breaks no invariant. */
  readonly allowed: readonly Outcome[] | null;
}

const WHENS = ['before', 'after'] as const satisfies readonly When[];

/** Failpoints that the scenario `confirm` does not reach, with a scenario that does. */
const REACHED_BY: Readonly<Record<string, Scenario>> = {
  'activity.attestJudgeFailure': 'judge_down',
  'activity.rollback': 'reject',
  'ledger.decided': 'reject',
  'ledger.answer_refused': 'refused_answer',
  'ledger.refused': 'revoked',
  'target.seal': 'stale',
};
/** The guardians run in the opening, and in a separate activity only if they could not run there. */
const UNGUARDED: Fault = { point: RULES_POINT, when: 'before', action: 'lost' };
/** Faults that must fire first. The marker is read back only if the response to COMMIT was lost. */
const NEEDS: Readonly<Record<string, readonly Fault[]>> = {
  'activity.runGuardians': [UNGUARDED],
  'ledger.findings': [UNGUARDED],
  'activity.reconcile': [{ point: 'target.commit', when: 'after', action: 'lost' }],
};

/** A review that reaches the failpoint of the fault. */
function reaching(fault: Fault): Case {
  const scenario = REACHED_BY[fault.point] ?? 'confirm';
  const faults = [...(NEEDS[fault.point] ?? []), fault];
  return { name: faultText(fault), scenario, faults, allowed: outcomesAfter(scenario, fault) };
}

/** Every action before and after each of these failpoints. */
const everyFault = (points: readonly string[]): Fault[] =>
  points.flatMap((point) => WHENS.flatMap((when) => ACTIONS.map((action) => at(point, when, action))));

/** Every failpoint × every action, one fault for each review. */
export function exhaustive(): Case[] {
  return everyFault(POINTS).map(reaching);
}

const at = (point: string, when: When, action: Action): Fault => ({ point, when, action });

/** Cases with a required outcome: every activity fails once, and permanently if it can. */
export function sample(): Case[] {
  return [...failsOnce(), ...failsPermanently()];
}

/** Temporal retries the failure, so the review has the same outcome as without it. */
function failsOnce(): Case[] {
  const points = ['openReview', 'runGuardians', 'stage', 'askJudge', 'disclose', 'admitAnswer', 'commit'];
  return [...points, 'rollback', 'attestJudgeFailure'].flatMap((activity) =>
    WHENS.map((when): Case => {
      const one = reaching(at(`activity.${activity}`, when, 'throw'));
      const allowed = [one.scenario === 'reject' ? rolledBack('declined') : COMMITTED];
      return { ...one, name: `sample:${one.name}`, allowed };
    }),
  );
}

/**
 * A guardian that may forbid forbids if it fails. A judge that fails becomes a finding that a person must answer; in the
 * scenario `auto` nothing else is disclosed, so reaching `disclose` proves that it was asked.
 */
function failsPermanently(): Case[] {
  const one = (fault: Fault, scenario: Scenario, outcome: Outcome, ...more: Fault[]): Case => ({
    name: `sample:${faultText(fault)}:${scenario}`,
    scenario,
    faults: [fault, ...more],
    allowed: [outcome],
  });
  const guardian = at('activity.runGuardians', 'before', 'fatal');
  const judged = [at('activity.attestJudgeFailure', 'before', 'throw'), at('activity.disclose', 'after', 'throw')];
  return [
    one(guardian, 'confirm', rolledBack('forbidden'), at(RULES_POINT, 'before', 'fatal')),
    one(at('activity.stage', 'before', 'fatal'), 'confirm', rolledBack('commit_failed')),
    one(at('activity.askJudge', 'before', 'fatal'), 'auto', COMMITTED, ...judged),
    one(at('activity.askJudge', 'before', 'fatal'), 'reject', rolledBack('declined'), ...judged),
    one(at('activity.disclose', 'before', 'fatal'), 'confirm', rolledBack('commit_failed')),
    one(at('activity.commit', 'before', 'fatal'), 'confirm', rolledBack('commit_failed')),
    one(at('activity.commit', 'after', 'fatal'), 'confirm', COMMITTED),
  ];
}

/** A worker frozen beyond its timeouts, PostgreSQL killed around a commit, the Temporal server killed. */
export function environment(): Case[] {
  const one = (point: string, when: When, action: Action, afterMs?: number): Case => ({
    ...reaching({ ...at(point, when, action), ...(afterMs === undefined ? {} : { afterMs }) }),
    allowed: null,
  });
  const places = [
    ['activity.openReview', 'after'],
    ['activity.stage', 'before'],
    ['activity.admitAnswer', 'after'],
    ['activity.commit', 'before'],
    ['ledger.intent', 'after'],
    ['target.inside', 'before'],
    ['target.inside', 'after'],
    ['target.commit', 'after'],
  ] as const;
  return [
    ...places.map(([point, when]) => one(point, when, 'stop')),
    ...[0, 1, 2, 4, 8, 16, 400].map((ms) => one('target.inside', 'after', 'postgres', ms)),
    one('ledger.intent', 'before', 'postgres', 3),
    one('ledger.effect', 'before', 'postgres', 3),
    one('target.seal', 'before', 'postgres', 3),
    ...(['activity.openReview', 'activity.commit', 'target.inside', 'activity.admitAnswer'] as const).flatMap((point) =>
      WHENS.map((when) => one(point, when, 'temporal', 30)),
    ),
  ];
}

/** The target's failpoints on a target that cannot write marker and effect in one transaction. */
export function otherTarget(kind: 'git' | 'http'): Case[] {
  return everyFault(TARGET_POINTS).map((fault): Case => {
    const scenario = fault.point === 'target.seal' ? (`${kind}_stale` as const) : kind;
    return { name: `${kind}:${faultText(fault)}`, scenario, faults: [fault], allowed: outcomesAfter(scenario, fault) };
  });
}

/** One in this many random faults kills a server. */
const SERVER_KILL_ODDS = 250;

/** Random case number `index` of a seed. Depends only on these two numbers. */
export function random(seed: number, index: number): Case {
  const roll = seededRandom((Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0);
  const scenario = pick(roll, [...SCENARIOS, 'confirm', 'confirm', 'cas', 'stale'] as const);
  const count = pick(roll, [1, 1, 1, 2, 2, 3]);
  const faults = Array.from({ length: count }, (): Fault => {
    const point = pick(roll, pointsOf(scenario));
    const when = pick(roll, WHENS);
    if (roll(SERVER_KILL_ODDS) === 0)
      return { point, when, action: pick(roll, ['postgres', 'temporal']), afterMs: roll(20) };
    return {
      point,
      when,
      action: pick(roll, [
        'kill',
        'throw',
        'throw',
        'throw',
        'hang',
        'lost',
        'lost',
        'lost',
        ...(roll(8) === 0 ? (['stop'] as const) : []),
      ]),
    };
  });
  const needed = new Set(faults.flatMap(({ point }) => (point === 'activity.reconcile' ? [] : (NEEDS[point] ?? []))));
  return { name: String(index), scenario, faults: [...needed, ...faults], allowed: null };
}

const OPENING = ['activity.openReview', RULES_POINT, 'activity.runGuardians', 'ledger.submitted', 'ledger.findings'];
const STAGING = [...OPENING, 'activity.stage', 'ledger.staged', 'target.stage', 'activity.askJudge', 'ledger.attested'];
const ASKING = [...STAGING, 'activity.disclose', 'ledger.disclosed', 'activity.admitAnswer', 'ledger.answer_accepted'];
const COMMITTING = [
  'activity.commit',
  'ledger.intent',
  'target.commit',
  'target.commit',
  'target.inside',
  'ledger.effect',
  'activity.reconcile',
];
const ROLLING_BACK = ['activity.rollback', 'ledger.decided', 'ledger.effect'];

function pointsOf(scenario: Scenario): readonly string[] {
  switch (scenario) {
    case 'auto':
      return [...STAGING, ...COMMITTING];
    case 'confirm':
    case 'cas':
      return [...ASKING, ...COMMITTING];
    case 'refused_answer':
      return [...ASKING, ...COMMITTING, 'ledger.answer_refused'];
    case 'judge_down':
      return [...ASKING, ...COMMITTING, 'activity.attestJudgeFailure'];
    case 'stale':
      return [...ASKING, ...COMMITTING, 'target.seal', 'target.seal', 'ledger.refused'];
    case 'revoked':
      return [...ASKING, 'activity.commit', 'ledger.refused', ...ROLLING_BACK];
    case 'reject':
    case 'withdraw':
      return [...ASKING, ...ROLLING_BACK];
    case 'forbidden':
      return [...OPENING, ...ROLLING_BACK];
    case 'git':
    case 'git_stale':
    case 'http':
    case 'http_stale':
      return TARGET_POINTS;
    default:
      return scenario satisfies never;
  }
}
