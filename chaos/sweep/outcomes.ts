import { RULES_POINT, type Fault } from './points';
import { of, reviewOf, type Body, type Observed } from './rules/review';
import type { Scenario } from './scenarios';

export interface Outcome {
  readonly state: 'COMMITTED' | 'ROLLED_BACK';
  readonly reason: string | null;
  /** This outcome is allowed only if the dry run was rejected. */
  readonly unstaged?: true;
}

export const COMMITTED: Outcome = { state: 'COMMITTED', reason: null };
export const rolledBack = (reason: string): Outcome => ({ state: 'ROLLED_BACK', reason });

/** The outcome of a review if every fault is recovered from. */
const OUTCOMES: Readonly<Record<Scenario, Outcome>> = {
  auto: COMMITTED,
  confirm: COMMITTED,
  cas: COMMITTED,
  refused_answer: COMMITTED,
  reject: rolledBack('declined'),
  withdraw: rolledBack('withdrawn'),
  stale: rolledBack('stale_base'),
  judge_down: COMMITTED,
  revoked: rolledBack('commit_refused'),
  forbidden: rolledBack('forbidden'),
  git: COMMITTED,
  git_stale: rolledBack('stale_base'),
  http: COMMITTED,
  http_stale: rolledBack('stale_base'),
};
export const expectedState = (scenario: Scenario): Outcome['state'] => OUTCOMES[scenario].state;

/**
 * The rules of the sweep's policy that fire on a change, so that people must answer for them before it is committed. Changes to git and
 * HTTP name no table. A judge that cannot answer in time adds a violation to any review.
 */
const FIRES: Readonly<Record<Scenario, readonly string[]>> = {
  auto: [],
  confirm: ['guardian.usual'],
  cas: ['guardian.usual'],
  refused_answer: ['guardian.usual'],
  reject: ['guardian.usual'],
  withdraw: ['guardian.usual'],
  stale: ['guardian.usual'],
  judge_down: ['guardian.usual', 'guardian.llm_judge'],
  revoked: ['guardian.usual', 'guardian.dues'],
  forbidden: ['safety.vault'],
  git: ['guardian.usual', 'guardian.dues'],
  git_stale: ['guardian.usual', 'guardian.dues'],
  http: ['guardian.usual', 'guardian.dues'],
  http_stale: ['guardian.usual', 'guardian.dues'],
};

/**
 * What the scenario alone says about a review, whatever the faults: one that is rejected, withdrawn, revoked, forbidden or overtaken is
 * not committed, and one that is committed has disclosed what fires on it. K3 then requires the answers.
 */
export function scenarioViolations(observed: Observed, scenario: Scenario): string[] {
  const { lines, workflow, effects } = reviewOf(observed, '');
  if (workflow?.outcome?.['state'] !== 'COMMITTED' && effects < 1) return [];
  if (expectedState(scenario) !== 'COMMITTED') return [`K3: the scenario ${scenario} was committed`];
  const violations = of(lines, 'disclosed').flatMap(({ parsed }) => parsed['violations'] as readonly Body[]);
  const asked = new Set(violations.filter(({ need }) => need === 'human').map(({ validatorId }) => validatorId));
  return FIRES[scenario]
    .filter((id) => !asked.has(id))
    .map((id) => `K3: the scenario ${scenario} was committed, and no person was asked about ${id}`);
}

/**
 * Faults of which one may end a review in a rollback that would have been committed, with its reason. Every other step is repeated for
 * longer than a fault lasts: the commit for 15 minutes, the dry run for an hour, the rest for a day or more, and answers are sent again.
 */
const MAY_ROLL_BACK: readonly { readonly by: (fault: Fault) => boolean; readonly reason: string }[] = [
  {
    // The committer takes the effect for unknown while its attempt goes on. It seals the marker if it is there first.
    by: ({ point, when, action }) => point === 'target.commit' && when === 'before' && action === 'lost',
    reason: 'commit_failed',
  },
  {
    // A guardian that cannot run in the opening is tried three times. Reviews beside this one kill its worker too, so the two attempts
    // that its own fault leaves can be lost. One that may forbid then forbids.
    by: ({ point, action }) =>
      point === 'activity.runGuardians' || point === 'ledger.findings' || (point === RULES_POINT && action === 'lost'),
    reason: 'forbidden',
  },
  {
    // The record of a failed judge is tried for a minute, and there is one judge worker. Without the record the commit is refused.
    by: ({ point }) => point === 'activity.attestJudgeFailure',
    reason: 'commit_refused',
  },
];

/** A dry run whose worker is lost twice is not repeated, and reviews beside this one kill workers too. */
const NOT_STAGED: Outcome = { ...rolledBack('commit_failed'), unstaged: true };

/**
 * How a review with this one fault may end. Null, which allows any outcome that breaks no rule, for HTTP: what a committer may repeat
 * there depends on the API. Cases with killed servers are not asked about either: PostgreSQL also takes the COMMIT of the reviews beside
 * its own, and a marker whose COMMIT is lost may be sealed.
 */
export function outcomesAfter(scenario: Scenario, fault: Fault): readonly Outcome[] | null {
  if (scenario === 'http' || scenario === 'http_stale') return null;
  const rollbacks = MAY_ROLL_BACK.filter(({ by }) => by(fault)).map(({ reason }) => rolledBack(reason));
  return [OUTCOMES[scenario], NOT_STAGED, ...rollbacks];
}

/** Says how the outcome differs from those that a case allows; empty if it is one of them. */
export function outcomeDifferences(observed: Observed, allowed: readonly Outcome[]): string[] {
  const { lines, workflow } = reviewOf(observed, '');
  const { state, reason } = workflow?.outcome ?? {};
  const isStaged = !of(lines, 'staged').some(({ parsed }) => parsed['rejected'] === true);
  const possible = allowed.filter(({ unstaged }) => unstaged !== true || !isStaged);
  if (possible.some((outcome) => outcome.state === state && outcome.reason === reason)) return [];
  const expected = possible.map((outcome) => `${outcome.state} ${outcome.reason ?? ''}`.trim()).join(' or ');
  return [`expected ${expected}, got ${String(state)} ${String(reason)}`];
}
