import fc from 'fast-check';
import type { Opened } from '../../activities/review-types';
import type { AdmittedAnswer } from '../../policy/contracts/answer';
import type { Submission } from '../../policy/contracts/diff';
import { toHistoryPlan } from '../../policy/contracts/history-plan';
import * as outcomes from '../../policy/contracts/outcome';
import { matchPolicies } from '../../policy/decide/violations';
import { review } from '../../workflows/review';
import { Review, type Carried } from '../../workflows/review-state';
import { preflightOf } from '../../workflows/review-status';
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
import { anyText } from '../support/any-text';

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
  for (const [id, says] of Object.entries(SAYS))
    change.findings.record(id, { kind: 'result', result: resultOf(id, says) });
  Object.assign(change, { state: 'INTERVENTION_REQUIRED', violations, fingerprint: '3'.repeat(64) });
  Object.assign(change, { disclosedAt: DISCLOSED_AT, reachable: ['ada', 'bob', 'eve'] });
  return JSON.parse(JSON.stringify(change.carry({ what: 'answers' }))) as Carried;
}

jest.mock('@temporalio/workflow', () => ({ ...jest.requireActual<object>('@temporalio/workflow') }));

// As in a worker, which freezes the modules that it preloads: of a zod schema only `safeParse` then works.
beforeAll(() => {
  require('../../workflows/preload');
  for (const exported of Object.values<unknown>(outcomes)) freezeAll(exported);
});

function freezeAll(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const name of Reflect.ownKeys(value)) freezeAll(Reflect.get(value, name));
}

/** Instead of the next run. */
class ContinuedAs {
  constructor(readonly carried: unknown) {}
}

interface Run {
  readonly outcome: Pick<outcomes.WorkflowOutcome, 'state' | 'reason'>;
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
  /** The handler of an answer ends with the first read. */
  readonly isAnswering: boolean;
}

/** Runs the workflow with a replaced SDK, in which a timer fires at once. */
async function runWith(given: Partial<Given>): Promise<Run> {
  const { inLedger = [[]], carried = waiting(), historyLength = 1, lookAgainIn, isAnswering = false } = given;
  const waits: string[] = [];
  let reads = 0;
  let lookAgain = (): void => {};
  const activities = {
    readStatements: async () => ({ answers: inLedger[Math.min(reads++, inLedger.length - 1)], stopped: null }),
    commit: async () => ({ state: 'COMMITTED', reason: null, explanation: '' }),
    reconcile: async () => ({ state: 'EFFECT_UNKNOWN', explanation: 'the target does not answer' }),
    rollback: async ({ reason }: { readonly reason: string }) => ({ state: 'ROLLED_BACK', reason, explanation: '' }),
  };
  Object.assign(jest.requireMock<object>('@temporalio/workflow'), {
    ...{ proxyActivities: () => activities, proxyLocalActivities: () => activities },
    workflowInfo: () => ({
      ...{ workflowId: CHANGE_ID, taskQueue: 'countersign-review', historyLength, historySize: 1 },
      ...{ continueAsNewSuggested: false, typedSearchAttributes: { getAll: () => [] } },
    }),
    setHandler: ({ name }: { readonly name: string }, handler: () => void) => {
      if (name === 'look_again') lookAgain = handler;
    },
    continueAsNew: async (_submission: unknown, next: unknown) => {
      throw new ContinuedAs(JSON.parse(JSON.stringify(next)));
    },
    ...{ setDefaultSignalHandler: () => {}, allHandlersFinished: () => !isAnswering || reads > 0 },
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
  });
  jest.useFakeTimers({ now: Date.parse(after(6)) });
  try {
    return { outcome: await review(submission, carried as Carried), waits, reads };
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

test.each([
  ['in the pause before the next run', 'a pause between messages, to continue as a new run', false],
  ['while the next run waits for the handler of an answer', 'message handlers to finish', true],
])(
  'a request to look again that arrives %s is followed before the review continues',
  async (_when, lookAgainIn, isAnswering) => {
    const run = await runWith({ inLedger: [confirmed], historyLength: 2_000, lookAgainIn, isAnswering });
    expect(run).toMatchObject({ outcome: { state: 'COMMITTED' }, reads: 1 });
    expect(run.waits).toHaveLength(2);
  },
);

test.each<[string, object]>([
  ['does not say what the review waits for', { waitsFor: undefined }],
  ['waits for something else', { waitsFor: { what: 'nothing' } }],
  ['does not say since when the effect is unknown', { waitsFor: { what: 'effect' } }],
  ['has an unknown state', { state: 'DONE' }],
  [
    'has a later deadline that is not a time',
    { violations: violations.map((violation, i) => (i === 0 ? violation : { ...violation, deadlineMs: 9e15 })) },
  ],
  [
    'was disclosed in 10,000 years, for which the server starts no timer',
    { disclosedAt: '+012026-01-01T00:00:00.000Z' },
  ],
])('a start with a carried state that %s fails the workflow, not its task', async (_what, over) => {
  await expect(
    runWith({ carried: { ...waiting(), ...over }, inLedger: [confirmed.slice(0, 1)] }),
  ).rejects.toMatchObject({
    type: 'VALIDATION_ERROR',
    message: expect.stringMatching(/^Invalid carried state: /) as string,
  });
});

/** Any state that a run can carry, by the calls with which a run reaches it. */
const carriedStates = fc
  .record({
    says: fc.tuple(
      ...plan.validators.map(() => fc.constantFrom('ALLOW', 'WARN', 'ERROR', 'skipped', 'none', 'no result')),
    ),
    requester: fc.option(fc.constantFrom('req', 'ada')),
    answers: fc.array(
      fc.record({
        violation: fc.nat(2),
        decision: fc.constantFrom('confirm', 'reject', 'retract'),
        person: fc.constantFrom('ada', 'bob', 'mallory'),
        minutes: fc.integer({ min: -10, max: 3000 }),
        reason: anyText(50),
      }),
      { maxLength: 8 },
    ),
    texts: fc.array(anyText(200), { maxLength: 60 }),
    keyOwners: fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
    code: fc.constantFrom('accepted', 'duplicate', 'unknown_key', 'malformed'),
    messages: fc.nat(120),
    overflow: fc.option(fc.nat()),
    stagingSha: fc.option(fc.constant('d'.repeat(64))),
    preflight: fc.boolean(),
    asks: fc.boolean(),
    since: fc.option(fc.integer({ min: Date.parse(DISCLOSED_AT), max: Date.parse(after(5)) })),
  })
  .map(({ says, answers, texts, since, ...given }) => {
    const change = new Review(CHANGE_ID, INPUT_SHA, submission);
    const { requester, code, keyOwners, stagingSha } = given;
    change.open({
      plan: toHistoryPlan(plan),
      planHash: 'c'.repeat(64),
      requester,
      openedAt: DISCLOSED_AT,
      warnings: texts,
    } as unknown as Opened);
    for (const [i, said] of says.entries()) {
      const { id } = plan.validators[i]!;
      if (said === 'skipped') change.findings.record(id, { kind: 'skipped', reasonCode: 'judge_when' });
      else if (said === 'no result') change.findings.record(id, { kind: 'result', result: texts });
      else if (said !== 'none') change.findings.record(id, { kind: 'result', result: resultOf(id, said) });
    }
    if (given.preflight) change.preflight = preflightOf(change);
    if (given.overflow !== null) change.findings.recordTooManyViolations(given.overflow);
    change.findings.complete();
    Object.assign(change, { stagingSha, keyOwners, dropped: given.messages, title: texts.join(' ') });
    if (given.asks) {
      const triggered = matchPolicies(change.plan, change.findings.all(), null);
      const disclosed = {
        fingerprint: '3'.repeat(64),
        disclosedAt: DISCLOSED_AT,
        reachable: ['ada', 'bob'],
        keyOwners,
      };
      change.disclose(triggered, { callbackResults: {}, ...disclosed });
    }
    change.admit(
      answers.map(({ violation, minutes, person, ...more }, i) =>
        answerTo(violations[violation] ?? { ...violations[0]!, violationId: 'e'.repeat(64) }, 'confirm', person, {
          ...more,
          admittedAt: after(minutes),
          digest: (i + 1).toString(16).padStart(64, '0'),
        }),
      ),
    );
    for (const text of texts) {
      change.warn(text);
      change.keepRefusals([{ violationId: null, text }], { '#0': { code, message: text } });
    }
    for (let i = 0; i < given.messages; i++) change.bounds.count(i % 2 === 0 ? 'answer' : 'stop', { actor: texts[i] });
    change.state = since === null ? 'INTERVENTION_REQUIRED' : 'EFFECT_UNKNOWN';
    const waitsFor = since === null ? ({ what: 'answers' } as const) : ({ what: 'effect', since } as const);
    return JSON.parse(JSON.stringify(change.carry(waitsFor))) as Carried;
  });

test('every state that a run can carry is resumed: the run ends, or hands on the same state', async () => {
  let handedOn = 0;
  await fc.assert(
    fc.asyncProperty(carriedStates, async (carried) => {
      try {
        const { outcome } = await runWith({ carried, historyLength: 2_000 });
        expect(['COMMITTED', 'ROLLED_BACK']).toContain(outcome.state);
      } catch (error) {
        if (!(error instanceof ContinuedAs)) throw error;
        expect(error.carried).toEqual(carried);
        handedOn++;
      }
    }),
    { numRuns: 60 },
  );
  expect(handedOn).toBeGreaterThan(5);
});
