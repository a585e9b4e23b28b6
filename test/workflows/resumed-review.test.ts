import type { Opened } from '../../activities/review-types';
import type { AdmittedAnswer } from '../../policy/contracts/answer';
import type { Submission } from '../../policy/contracts/diff';
import { toHistoryPlan } from '../../policy/contracts/history-plan';
import type { WorkflowOutcome } from '../../policy/contracts/outcome';
import { Review, type Carried } from '../../workflows/review-state';
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

interface Given {
  /** What each read of the answers returns. */
  readonly inLedger: readonly (readonly AdmittedAnswer[])[];
  readonly carried: unknown;
  /** Events in the history of the run. */
  readonly historyLength: number;
  /** A signal `look_again` arrives while this timer runs. */
  readonly lookAgainIn: string;
}

/** Runs the workflow with a replaced SDK, in which a timer fires at once. */
async function runWith(given: Partial<Given>): Promise<Run> {
  const { inLedger = [[]], carried = waiting(), historyLength = 1, lookAgainIn } = given;
  const waits: string[] = [];
  let reads = 0;
  let lookAgain = (): void => {};
  const activities = {
    readStatements: async () => ({ answers: inLedger[Math.min(reads++, inLedger.length - 1)], stopped: null }),
    commit: async () => ({ state: 'COMMITTED', reason: null, explanation: '' }),
    rollback: async ({ reason }: { readonly reason: string }) => ({ state: 'ROLLED_BACK', reason, explanation: '' }),
  };
  const sdk = {
    ...jest.requireActual<object>('@temporalio/workflow'),
    ...{ proxyActivities: () => activities, proxyLocalActivities: () => activities },
    workflowInfo: () => ({
      ...{ workflowId: CHANGE_ID, taskQueue: 'countersign-review', historyLength, historySize: 1 },
      ...{ continueAsNewSuggested: false, typedSearchAttributes: { getAll: () => [] } },
    }),
    setHandler: ({ name }: { readonly name: string }, handler: () => void) => {
      if (name === 'look_again') lookAgain = handler;
    },
    continueAsNew: async () => {
      throw new Error('continued as a new run');
    },
    ...{ setDefaultSignalHandler: () => {}, allHandlersFinished: () => true },
    ...{ upsertMemo: () => {}, upsertSearchAttributes: () => {}, setCurrentDetails: () => {} },
    CancellationScope: { nonCancellable: (scope: () => Promise<unknown>) => scope() },
    sleep: async (ms: number, { summary }: { readonly summary: string }) => {
      if (summary === lookAgainIn && !waits.includes(summary)) lookAgain();
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
    return { outcome: await loaded.review!(submission, carried as Carried), waits, reads };
  } finally {
    jest.useRealTimers();
  }
}

const BOTH = [`deadline ${after(60)}`, `deadline ${after(24 * 60)}`];

test('if the ledger has the answer to the earlier of two deadlines, the review waits until the later one', async () => {
  const run = await runWith({ inLedger: [confirmed.slice(0, 1), confirmed] });
  expect(run).toMatchObject({ outcome: { state: 'COMMITTED' }, waits: BOTH, reads: 2 });
});

test('the ledger is read once at each deadline, whatever it returns, before the review expires', async () => {
  const outcome = { reason: 'expired' };
  expect(await runWith({ inLedger: [confirmed.slice(0, 1)] })).toMatchObject({ outcome, waits: BOTH, reads: 2 });
  expect(await runWith({})).toMatchObject({ outcome, waits: BOTH.slice(0, 1), reads: 1 });
});

test('a request to look again that arrives in the pause before the next run is followed before the review continues', async () => {
  const PAUSE = 'a pause between messages, to continue as a new run';
  const run = runWith({ inLedger: [confirmed], historyLength: 2_000, lookAgainIn: PAUSE });
  await expect(run).resolves.toMatchObject({ outcome: { state: 'COMMITTED' }, reads: 1 });
});

test.each<[string, object]>([
  ['does not say what the review waits for', { waitsFor: undefined }],
  ['waits for something else', { waitsFor: { what: 'nothing' } }],
  ['does not say since when the effect is unknown', { waitsFor: { what: 'effect' } }],
  ['has an unknown state', { state: 'DONE' }],
])('a start with a carried state that %s fails the workflow, not its task', async (_what, over) => {
  await expect(runWith({ carried: { ...waiting(), ...over } })).rejects.toMatchObject({
    type: 'VALIDATION_ERROR',
    message: expect.stringMatching(/^Invalid carried state: /) as string,
  });
});
