import { toHistoryPlan } from '../../policy/contracts/history-plan';
import { cardinalityOf } from '../../policy/decide/violations';
import type { Plan } from '../../policy/contracts/plan';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import { COMPUTED_BY_ASSEMBLY } from '../../policy/decide/findings';
import type { Carried } from '../../workflows/review-state';
import { ENDED, ifRefused } from './if-refused';
import type { Testbed } from './testbed';

/** State of a run that continues, as the attacker would like it: every validator allows the change, and no person is asked. */
export async function forgedState(testbed: Testbed, changeId: string): Promise<Carried> {
  const { planHash } = await testbed.submissionOf(changeId);
  const rows = await testbed.rows(changeId);
  const staged = rows.find(({ kind }) => kind === 'staged')?.body;
  const disclosed = rows.find(({ kind }) => kind === 'disclosed')?.body;
  const plan = await testbed.planOf(changeId);
  return {
    waitsFor: { what: 'answers' },
    state: 'INTERVENTION_REQUIRED',
    opened: forgedOpening(plan, planHash),
    stagingSha: (staged?.['stagingSha'] ?? null) as string | null,
    cardinality: cardinalityOf((staged?.['record'] ?? null) as StagingRecord | null),
    preflight: { changeId, planHash, provisional: true, forbidden: false, findings: [] },
    violations: [],
    fingerprint: (disclosed?.['fingerprint'] ?? null) as string | null,
    disclosedAt: new Date().toISOString(),
    reachable: [],
    title: 'nothing',
    keyOwners: {},
    refusals: { latest: [], count: 0 },
    warnings: [],
    answers: [],
    outcomes: allowedOutcomes(plan),
    tooManyViolations: null,
    counts: { since: Date.now(), byKind: { submit: 0, answer: 0, stop: 0 }, bySender: {} },
    dropped: 0,
  };
}

/** The result of an opening without findings. */
export function forgedOpening(plan: Plan, planHash: string): Carried['opened'] {
  return {
    plan: toHistoryPlan(plan),
    planHash,
    requester: 'mallory',
    reported: { allowed: [], results: {} },
    title: 'nothing',
    warnings: [],
    openedAt: new Date().toISOString(),
    stopped: null,
  };
}

/** An outcome of each validator that allows the change. */
export const allowedOutcomes = (plan: Plan): Carried['outcomes'] =>
  plan.validators
    .filter(({ id }) => !COMPUTED_BY_ASSEMBLY.has(id))
    .map(({ id }) => {
      const result = { validator_id: id, status: 'ALLOW', reason: '', evidenceRefs: [] };
      return [id, { kind: 'result', result }];
    });

/** Terminates the review and starts it again with a second argument, as if it were continued from another run. */
export async function restartWith(testbed: Testbed, changeId: string, state: Carried): Promise<void> {
  const { submission } = await testbed.submissionOf(changeId);
  await ifRefused(testbed.temporal.workflow.getHandle(changeId).terminate('maintenance'), ENDED, null);
  await testbed.temporal.workflow.start('review', {
    workflowId: changeId,
    taskQueue: testbed.queues.review,
    args: [submission, state],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  });
}
