import type { Opened } from '../../activities/review-types';
import type { AdmittedAnswer } from '../../policy/contracts/answer';
import type { Submission } from '../../policy/contracts/diff';
import { toHistoryPlan } from '../../policy/contracts/history-plan';
import type { WorkflowOutcome } from '../../policy/contracts/outcome';
import type { Carried } from '../../workflows/carried';
import { Review } from '../../workflows/review-state';
import {
  after,
  answerTo,
  CHANGE_ID,
  DISCLOSED_AT,
  findingsOf,
  HOUR,
  INPUT_SHA,
  planOf,
  planValidator,
  policyOf,
  resultOf,
  violationsOf,
} from '../support/plan';

const submission: Submission = {
  ...{ tenant: 'acme', target: 'shop', sourceTool: 'SQLDryRun' },
  ...{ diffSha: 'a'.repeat(64), metadata: {}, requestKey: '' },
};

/** Two violations: the first must be confirmed within 1 hour, the second within 24. */
const SAYS = { 'guardian.a': 'WARN', 'guardian.b': 'WARN' } as const;
const plan = planOf([planValidator('guardian.a'), planValidator('guardian.b')], {
  policies: [policyOf('soon', { match: { validatorIds: ['guardian.a'] }, deadlineMs: HOUR })],
});
const violations = violationsOf(plan, findingsOf(plan, SAYS));
const confirmed = violations.map((violation, i) =>
  answerTo(violation, 'confirm', 'ada', { digest: String(i).repeat(64), admittedAt: after(5) }),
);

/** A review that waits for both answers and knows none. */
function waiting(): Carried {
  const change = new Review(CHANGE_ID, INPUT_SHA, submission);
  const opened = { plan: toHistoryPlan(plan), requester: 'req', openedAt: DISCLOSED_AT };
  change.open(opened as unknown as Opened);
  for (const [id, says] of Object.entries(SAYS)) change.record(id, { kind: 'result', result: resultOf(id, says) });
  Object.assign(change, { state: 'INTERVENTION_REQUIRED', violations, fingerprint: '3'.repeat(64) });
  Object.assign(change, { disclosedAt: DISCLOSED_AT, reachable: ['ada', 'bob', 'eve'] });
  return JSON.parse(JSON.stringify(change.carry({ what: 'answers' }))) as Carried;
}

interface Run {
  readonly outcome: Pick<WorkflowOutcome, 'state' | 'reason'>;
  /** Timers that the workflow started. */
  readonly waits: readonly string[];
  readonly reads: number;
}

/** Runs the workflow with a replaced SDK, in which a timer fires at once. `inLedger`: what each read of the answers returns. */
async function runWith(...inLedger: readonly (readonly AdmittedAnswer[])[]): Promise<Run> {
  const waits: string[] = [];
  let reads = 0;
  const activities = {
    readStatements: async () => ({ answers: inLedger[Math.min(reads++, inLedger.length - 1)], stopped: null }),
    commit: async () => ({ state: 'COMMITTED', reason: null, explanation: '' }),
    rollback: async ({ reason }: { readonly reason: string }) => ({ state: 'ROLLED_BACK', reason, explanation: '' }),
  };
  const sdk = {
    ...jest.requireActual<object>('@temporalio/workflow'),
    ...{ proxyActivities: () => activities, proxyLocalActivities: () => activities },
    workflowInfo: () => ({
      ...{ workflowId: CHANGE_ID, taskQueue: 'countersign-review', historyLength: 1, historySize: 1 },
      ...{ continueAsNewSuggested: false, typedSearchAttributes: { getAll: () => [] } },
    }),
    ...{ setHandler: () => {}, setDefaultSignalHandler: () => {}, allHandlersFinished: () => true },
    ...{ upsertMemo: () => {}, upsertSearchAttributes: () => {}, setCurrentDetails: () => {} },
    CancellationScope: { nonCancellable: (scope: () => Promise<unknown>) => scope() },
    sleep: async (ms: number, { summary }: { readonly summary: string }) => {
      waits.push(summary);
      jest.setSystemTime(Date.now() + ms);
    },
    condition: async (met: () => boolean) => {
      for (let i = 0; !met(); i++) {
        if (i > 100) throw new Error('waits forever');
        await Promise.resolve();
      }
    },
  };
  const loaded: { review?: typeof import('../../workflows/review').review } = {};
  jest.isolateModules(() => {
    jest.doMock('@temporalio/workflow', () => sdk);
    loaded.review = (require('../../workflows/review') as typeof import('../../workflows/review')).review;
    jest.dontMock('@temporalio/workflow');
  });
  jest.useFakeTimers({ now: Date.parse(after(6)) });
  try {
    return { outcome: await loaded.review!(submission, waiting()), waits, reads };
  } finally {
    jest.useRealTimers();
  }
}

const BOTH = [`deadline ${after(60)}`, `deadline ${after(24 * 60)}`];

test('if the ledger has the answer to the earlier of two deadlines, the review waits until the later one', async () => {
  const run = await runWith(confirmed.slice(0, 1), confirmed);
  expect(run).toMatchObject({ outcome: { state: 'COMMITTED' }, waits: BOTH, reads: 2 });
});

test('the ledger is read once at each deadline, whatever it returns, before the review expires', async () => {
  expect(await runWith(confirmed.slice(0, 1))).toMatchObject({ outcome: { reason: 'expired' }, waits: BOTH, reads: 2 });
  expect(await runWith([])).toMatchObject({ outcome: { reason: 'expired' }, waits: BOTH.slice(0, 1), reads: 1 });
});
