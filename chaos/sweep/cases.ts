import { dice, type Dice } from '../dice';
import { ACTIONS, faultText, POINTS, TARGET_POINTS, type Action, type Fault, type When } from './points';
import { SCENARIOS, type Scenario } from './scenarios';

/** One review of the sweep, with the faults that it meets. `name` replays it: `--only <name>`. */
export interface Case {
  readonly name: string;
  readonly scenario: Scenario;
  readonly faults: readonly Fault[];
  /** The exact outcome that is required. Absent: any outcome that breaks no invariant. */
  readonly ends?: Ending;
}

export interface Ending {
  readonly state: 'COMMITTED' | 'ROLLED_BACK';
  readonly reason: string | null;
}

const WHENS = ['before', 'after'] as const satisfies readonly When[];

/** Where a scenario other than `confirm` is needed to reach a point. */
const REACHED_BY: Readonly<Record<string, Scenario>> = {
  'activity.attestJudgeFailure': 'judge_down',
  'activity.rollback': 'reject',
  'ledger.decided': 'reject',
  'ledger.answer_refused': 'refused_answer',
  'ledger.refused': 'revoked',
  'target.seal': 'stale',
};
/** The marker is read only where the answer to COMMIT was lost. */
const NEEDS: Readonly<Record<string, readonly Fault[]>> = {
  'activity.reconcile': [{ point: 'target.commit', when: 'after', action: 'lost' }],
};

/** Every failpoint × every action, one fault a review. */
export function exhaustive(): Case[] {
  return POINTS.flatMap((point) =>
    WHENS.flatMap((when) =>
      ACTIONS.map((action) => {
        const fault = { point, when, action };
        return {
          name: faultText(fault),
          scenario: REACHED_BY[point] ?? ('confirm' as const),
          faults: [...(NEEDS[point] ?? []), fault],
        };
      }),
    ),
  );
}

const COMMITTED: Ending = { state: 'COMMITTED', reason: null };
const rolledBack = (reason: string): Ending => ({ state: 'ROLLED_BACK', reason });
const at = (point: string, when: When, action: Action): Fault => ({ point, when, action });

/** What `npm test` runs besides random reviews: every activity fails once, and those that can fail for good do. */
export function sample(): Case[] {
  return [...failsOnce(), ...failsForGood()];
}

/** The failure is retried, so the review ends as it would have ended without it. */
function failsOnce(): Case[] {
  const points = ['openReview', 'runGuardians', 'stage', 'askJudge', 'disclose', 'admitAnswer', 'commit'];
  return [...points, 'rollback', 'attestJudgeFailure'].flatMap((activity) =>
    WHENS.map((when): Case => {
      const fault = at(`activity.${activity}`, when, 'throw');
      const scenario = REACHED_BY[fault.point] ?? 'confirm';
      const ends = scenario === 'reject' ? rolledBack('declined') : COMMITTED;
      return { name: `sample:${faultText(fault)}`, scenario, faults: [fault], ends };
    }),
  );
}

/**
 * A guardian that may forbid and does not answer, forbids. A judge that does not answer is a finding, which a person is
 * asked about: in the scenario `auto` nothing else is disclosed, so reaching `disclose` shows it.
 */
function failsForGood(): Case[] {
  const one = (fault: Fault, scenario: Scenario, ends: Ending, ...more: Fault[]): Case => ({
    name: `sample:${faultText(fault)}:${scenario}`,
    scenario,
    faults: [fault, ...more],
    ends,
  });
  const guardian = at('activity.runGuardians', 'before', 'fatal');
  const judged = [at('activity.attestJudgeFailure', 'before', 'throw'), at('activity.disclose', 'after', 'throw')];
  return [
    // One fault for each of the three guardians of the bundle.
    one(guardian, 'confirm', rolledBack('forbidden'), guardian, guardian),
    one(at('activity.stage', 'before', 'fatal'), 'confirm', rolledBack('commit_failed')),
    one(at('activity.askJudge', 'before', 'fatal'), 'auto', COMMITTED, ...judged),
    one(at('activity.askJudge', 'before', 'fatal'), 'reject', rolledBack('declined'), ...judged),
    one(at('activity.disclose', 'before', 'fatal'), 'confirm', rolledBack('commit_failed')),
    one(at('activity.commit', 'before', 'fatal'), 'confirm', rolledBack('commit_failed')),
    one(at('activity.commit', 'after', 'fatal'), 'confirm', COMMITTED),
  ];
}

/** A worker frozen past its time-outs, PostgreSQL killed around a commit, the Temporal server killed. */
export function environment(): Case[] {
  const one = (point: string, when: When, action: Action, afterMs?: number): Case => {
    const fault = { point, when, action, ...(afterMs === undefined ? {} : { afterMs }) };
    return { name: faultText(fault), scenario: 'confirm', faults: [fault] };
  };
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
  ].map((each) => (each.name.startsWith('target.seal') ? { ...each, scenario: 'stale' as const } : each));
}

/** The failpoints of the target once more, on a target that has no transaction for marker and effect. */
export function otherTarget(kind: 'git' | 'http'): Case[] {
  return TARGET_POINTS.flatMap((point) =>
    WHENS.flatMap((when) =>
      ACTIONS.map((action): Case => {
        const fault = { point, when, action };
        const scenario = point === 'target.seal' ? (`${kind}_stale` as const) : kind;
        return { name: `${kind}:${faultText(fault)}`, scenario, faults: [fault] };
      }),
    ),
  );
}

const KILLS_A_SERVER = 250;

/** Case `index` of a seed: the same for the same two numbers, whatever else runs. */
export function random(seed: number, index: number): Case {
  const roll = dice((Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0);
  const scenario = pick(roll, [...SCENARIOS, 'confirm', 'confirm', 'cas', 'stale'] as const);
  const count = pick(roll, [1, 1, 1, 2, 2, 3]);
  const faults = Array.from({ length: count }, (): Fault => {
    const point = pick(roll, pointsOf(scenario));
    const when = pick(roll, WHENS);
    if (roll(KILLS_A_SERVER) === 0)
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
  return { name: String(index), scenario, faults };
}

function pick<T>(roll: Dice, list: readonly T[]): T {
  const chosen = list[roll(list.length)];
  if (chosen === undefined) throw new RangeError('an empty list');
  return chosen;
}

const OPENING = [
  'activity.openReview',
  'activity.runGuardians',
  'ledger.submitted',
  'ledger.findings',
  'activity.recordVerdicts',
];
const STAGING = [...OPENING, 'activity.stage', 'ledger.staged', 'target.stage', 'activity.askJudge', 'ledger.attested'];
const ASKING = [
  ...STAGING,
  'activity.disclose',
  'ledger.disclosed',
  'activity.notify',
  'activity.admitAnswer',
  'ledger.answer_accepted',
];
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
