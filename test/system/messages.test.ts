import { setTimeout as pause } from 'node:timers/promises';
import { createSigner } from '../../client/signer';
import type { AnswerResults } from '../../policy/contracts/answer';
import type { Envelope } from '../../policy/contracts/diff';
import type { ReviewStatus } from '../../policy/contracts/status';
import { verifyChain } from '../../policy/evidence/chain';
import { statementOf } from '../../policy/evidence/statement';
import { newNonce } from '../../signing/nonce';
import { queryWorkflow } from '../../dev/query-workflow';
import { GIFT_POLICY, SHOP, shopBundle } from '../support/shop-bundle';
import { eventually } from '../support/eventually';
import { replay } from '../support/replay';
import { useSystem, workflowBundlePath, type System, type TestKey } from '../support/system';
import { humanViolations, PRICE, update, waitingPrice } from './scenarios';

/** While set, `commit` waits for it before it starts. */
let commitGate: Promise<void> | null = null;
/** While set, `commit` waits for it before it reports, so the workflow has no result yet. */
let reportGate: Promise<void> | null = null;
/** While set, `disclose` waits for it after writing the disclosure to the ledger, so the workflow has no result yet. */
let discloseGate: Promise<void> | null = null;
const system = useSystem({
  ...SHOP,
  name: 'messages',
  bundleText: shopBundle({ policies: GIFT_POLICY }).replace(
    'dba: { members: [alice, bob] }',
    'dba: { members: [alice, bob, gone] }',
  ),
  wrap: (worker, activities) => {
    if (worker === 'review') {
      const { disclose } = activities as { disclose: (input: unknown) => Promise<unknown> };
      const late = async (input: unknown): Promise<unknown> => {
        const disclosed = await disclose(input);
        await discloseGate;
        return disclosed;
      };
      return { ...activities, disclose: late };
    }
    if (worker !== 'commit') return activities;
    const { commit } = activities as { commit: (input: unknown) => Promise<unknown> };
    const gated = async (input: unknown): Promise<unknown> => {
      await commitGate;
      const result = await commit(input);
      await reportGate;
      return result;
    };
    return { ...activities, commit: gated };
  },
});

type Via = 'update' | 'signal';
const handle = (changeId: string) => system.temporal.workflow.getHandle(changeId);

/** The refused answers in the ledger, in order. */
async function refusals(changeId: string): Promise<{ code: string; via: string; message: string }[]> {
  return (await system.ledger(changeId))
    .filter(({ row }) => row.kind === 'answer_refused')
    .map(({ row }) => row.body as never);
}

/** Sends any message and returns the code of each answer, from the update's result or from the ledger. */
async function send(changeId: string, message: unknown, via: Via): Promise<string[]> {
  const before = (await refusals(changeId)).length;
  if (via === 'update') {
    const results = await handle(changeId).executeUpdate<AnswerResults, [unknown]>('answer', { args: [message] });
    const recorded = await refusals(changeId);
    const codes = Object.values(results).map((r) => r.code);
    expect(recorded.slice(before).map((r) => r.code)).toEqual(
      codes.filter((code) => code !== 'duplicate' && code !== 'accepted'),
    );
    return codes;
  }
  await handle(changeId).signal('answer', message);
  return (await newRefusals(changeId, before)).map((r) => r.code);
}

async function newRefusals(changeId: string, before: number): ReturnType<typeof refusals> {
  const added = async () => {
    const rows = (await refusals(changeId)).slice(before);
    return rows.length > 0 && rows;
  };
  return await eventually('the ledger contains a new refusal', added, { everyMs: 50 });
}

async function failedTasks(changeId: string): Promise<number> {
  const { events } = await handle(changeId).fetchHistory();
  return (events ?? []).filter((e) => e.workflowTaskFailedEventAttributes != null).length;
}

/** Opens a review with two violations that need a person and a third that its callback resolves. */
let rows = 0;
async function openReview(): Promise<ReviewStatus> {
  const change = update(`update gifts set cents = cents + ${++rows}`, 'gifts', 30);
  const { changeId } = await system.submit({ ...change, metadata: { ...change.metadata, cents: 1 } });
  return await system.waiting(changeId);
}

interface Context {
  readonly status: ReviewStatus;
  readonly human: string;
  readonly gone: TestKey;
}
type Message = (context: Context) => unknown;
const confirm = (
  context: Context,
  person: Parameters<System['sign']>[1],
  over: Partial<ReviewStatus> = {},
  violation = context.human,
): Envelope => system.sign({ ...context.status, ...over }, person, 'confirm', [violation])[0] as Envelope;
const one = (answer: unknown): unknown => ({ answers: [answer] });
function expired(context: Context): Envelope {
  const { changeId, fingerprint, tenant, target } = context.status;
  const signer = createSigner(system.key('alice'));
  const at = (ms: number): string => new Date(Date.now() + ms).toISOString();
  return signer.sign(
    statementOf('answer', {
      changeId,
      fingerprint: fingerprint ?? '',
      violationId: context.human,
      decision: 'confirm',
      retracts: null,
      reason: '',
      keyId: signer.keyId,
      context: { tenant, target, environment: 'development' },
      coverage: null,
      nonce: newNonce(),
      issuedAt: at(-20_000),
      expiresAt: at(-10_000),
    }),
  );
}

const otherHash = 'ab'.repeat(32);
/** One of each way to refuse; the test of the admission has every code. */
const CASES: readonly (readonly [string, string | readonly string[], Message])[] = [
  ['answers that are booleans', ['malformed', 'malformed'], () => ({ answers: [true, false] })],
  ['a revoked key', 'revoked_key', (w) => one(confirm(w, w.gone))],
  ['another fingerprint [T60]', 'wrong_fingerprint', (w) => one(confirm(w, 'alice', { fingerprint: otherHash }))],
  ['an answer past its own expiry', 'expired', (w) => one(expired(w))],
];

describe.each<Via>(['update', 'signal'])('an answer by %s', (via) => {
  let context: Context;
  beforeAll(async () => {
    const status = await openReview();
    const gone = await system.addKey({ kind: 'approver', subject: { type: 'person', id: 'gone' } });
    await system.revokeKey(gone.keyId);
    context = { status, human: humanViolations(status)[0] ?? '', gone };
  });

  test.each(CASES)(
    'with %s is refused as %s, recorded in the ledger and changes nothing [T56, T58]',
    async (_title, code, sent) => {
      const { changeId } = context.status;
      expect(await send(changeId, sent(context), via)).toEqual([code].flat());
      const now = await system.countersign.status(changeId);
      expect({ state: now.state, violations: now.violations }).toEqual({
        state: 'INTERVENTION_REQUIRED',
        violations: context.status.violations,
      });
    },
  );

  test('counts once if sent twice, and a contradicting answer that was signed before it cannot change it; the other answers then commit without a failed workflow task [T57]', async () => {
    const { status, human } = context;
    const { changeId } = status;
    const no = system.sign(status, 'alice', 'reject', [human]);
    await pause(5);
    const yes = confirm(context, 'alice');
    if (via === 'update') {
      expect(await send(changeId, one(yes), via)).toEqual(['accepted']);
      expect(await send(changeId, one(yes), via)).toEqual(['duplicate']);
    } else {
      await system.countersign.answer(changeId, [yes], { via });
      await system.countersign.answer(changeId, [yes], { via });
    }
    expect(await send(changeId, { answers: no }, via)).toEqual(['superseded']);
    const now = await system.countersign.status(changeId);
    expect(now.violations.find((v) => v.violationId === human)).toMatchObject({
      resolution: 'confirmed',
      confirmedBy: ['alice'],
    });

    const rest = humanViolations(status).filter((id) => id !== human);
    await system.countersign.answer(changeId, system.sign(status, 'bob', 'confirm', rest), { via });
    await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED', verified: true });
    expect(await failedTasks(changeId)).toBe(0);
    expect(verifyChain(await system.ledger(changeId))).toMatchObject({ ok: true });
    const refused = CASES.flatMap(([, code]) => code).length + 1;
    expect(await refusals(changeId)).toHaveLength(refused);
    expect((await refusals(changeId)).every((r) => r.via === via)).toBe(true);
    expect((await system.ledger(changeId)).filter(({ row }) => row.kind === 'answer_accepted')).toHaveLength(
      humanViolations(status).length,
    );
  });

  test('before its violation exists is refused, and the review then asks as usual [T59]', async () => {
    await system.stopWorker('commit');
    const submitted = await system.submit(waitingPrice(via === 'update' ? 1 : 2));
    const { changeId } = submitted;
    const status = {
      ...(await system.countersign.status(changeId)),
      fingerprint: otherHash,
      environment: 'development' as const,
    };
    const early = confirm(
      { ...context, status },
      'alice',
      {
        violations: [
          { ...(context.status.violations[0] as ReviewStatus['violations'][number]), violationId: otherHash },
        ],
      },
      otherHash,
    );
    expect(await send(changeId, one(early), via)).toEqual(['too_early']);
    await system.startWorker('commit');
    const later = await system.waiting(changeId);
    expect(later.violations.map((v) => v.resolution)).toEqual(['pending']);
    await system.answer(changeId, 'alice', 'reject');
    await expect(system.ended(changeId)).resolves.toMatchObject({ outcome: { reason: 'declined' } });
    expect(await failedTasks(changeId)).toBe(0);
  });

  test('to a violation in the ledger is accepted, although the workflow has not received the disclosure yet', async () => {
    let releaseDisclosure = (): void => {};
    discloseGate = new Promise((resolve) => (releaseDisclosure = resolve));
    const { changeId } = await system.submit(waitingPrice(via === 'update' ? 26 : 27));
    const disclosed = async () => (await system.ledger(changeId)).find(({ row }) => row.kind === 'disclosed')?.row.body;
    const body = await eventually('the disclosure is in the ledger', disclosed, { everyMs: 50 });
    const { fingerprint, violations } = body as unknown as Pick<ReviewStatus, 'fingerprint' | 'violations'>;
    const unaware = await queryWorkflow<ReviewStatus>(handle(changeId), 'status');
    expect(unaware).toMatchObject({ state: 'RUNNING', violations: [] });
    const shown = { ...unaware, fingerprint, violations, environment: 'development' as const };
    const message = { answers: system.sign(shown, 'alice', 'confirm') };
    const answered =
      via === 'update'
        ? await handle(changeId).startUpdate<AnswerResults, [unknown]>('answer', {
            args: [message],
            waitForStage: 'ACCEPTED',
          })
        : await handle(changeId).signal('answer', message);
    releaseDisclosure();
    discloseGate = null;
    await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED', verified: true });
    if (answered !== undefined) expect(Object.values(await answered.result()).map((r) => r.code)).toEqual(['accepted']);
    expect([await refusals(changeId), await failedTasks(changeId)]).toEqual([[], 0]);
    await replay({ codePath: workflowBundlePath() }, await handle(changeId).fetchHistory(), changeId);
  });

  test('that rejects before a requested commit begins is accepted, and the change is declined', async () => {
    const { changeId } = await system.submit(waitingPrice(via === 'update' ? 7 : 8));
    const status = await system.waiting(changeId);
    let open = (): void => {};
    commitGate = new Promise((resolve) => (open = resolve));
    try {
      await system.answer(changeId, 'alice', 'confirm');
      const results = await system.countersign.answer(changeId, system.sign(status, 'bob', 'reject'), { via });
      expect(Object.values(results).map((r) => r.code)).toEqual(['accepted']);
    } finally {
      open();
      commitGate = null;
    }
    await expect(system.ended(changeId)).resolves.toMatchObject({
      state: 'ROLLED_BACK',
      verified: true,
      outcome: { reason: 'declined' },
    });
  });

  test('during and after the commit is refused as closed and recorded in the ledger [T56]', async () => {
    const { changeId } = await system.submit(waitingPrice(via === 'update' ? 3 : 4));
    const status = await system.waiting(changeId);
    let open = (): void => {};
    reportGate = new Promise((resolve) => (open = resolve));
    try {
      await system.answer(changeId, 'alice', 'confirm');
      await eventually('the commit has begun', async () =>
        (await system.ledger(changeId)).some(({ row }) => row.kind === 'intent'),
      );
      expect(await send(changeId, { answers: system.sign(status, 'bob', 'reject') }, via)).toEqual(['closed']);
    } finally {
      open();
      reportGate = null;
    }
    await handle(changeId).result();
    await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED' });
    const results = await system.countersign.answer(changeId, system.sign(status, 'bob', 'reject'), { via });
    expect(Object.values(results).map((r) => r.code)).toEqual(['closed']);
    expect((await refusals(changeId)).map((r) => r.code)).toEqual(['closed', 'closed']);
    expect((await system.ended(changeId)).state).toBe('COMMITTED');
  });

  test('to a review that does not exist fails with not_found', async () => {
    await expect(system.countersign.answer(otherHash, [confirm(context, 'alice')], { via })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

test('a closed review that is reset to before its answers ends with the recorded outcome and applies nothing', async () => {
  const { changeId } = await system.submit(waitingPrice(28));
  const status = await system.waiting(changeId);
  await system.answer(changeId, 'alice', 'confirm');
  const first = await system.ended(changeId);
  expect(first).toMatchObject({ state: 'COMMITTED', verified: true });
  const { events } = await handle(changeId).fetchHistory();
  const answered =
    events?.findIndex(
      (e) => e.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name === 'answer',
    ) ?? -1;
  const before = events?.slice(0, answered).findLast((e) => e.workflowTaskCompletedEventAttributes != null)?.eventId;
  await system.temporal.workflowService.resetWorkflowExecution({
    namespace: system.temporal.options.namespace,
    workflowExecution: { workflowId: changeId },
    reason: 'test',
    workflowTaskFinishEventId: before ?? null,
    requestId: newNonce(),
    resetReapplyType: 2,
  });
  await system.countersign.answer(changeId, system.sign(status, 'bob', 'confirm'));
  const again = await system.ended(changeId);
  expect(again).toMatchObject({ state: 'COMMITTED', verified: true });
  expect(again.outcome.receipt).toEqual(first.outcome.receipt);
  expect(await system.shop('select cents, version from prices where id = 28')).toEqual([{ cents: 600, version: 2 }]);
});

test('a signal sent with the start neither crashes nor answers the review [T59]', async () => {
  const { submission, changeId } = system.countersign.prepare({
    ...waitingPrice(5),
    target: 'shop',
    requestKey: system.suffix,
  });
  await system.countersign.submit({ ...waitingPrice(6), target: 'shop', requestKey: system.suffix });
  // This submission stores the bytes.
  const bytes = await system.submit(waitingPrice(5));
  await system.temporal.workflow.signalWithStart('review', {
    workflowId: changeId,
    taskQueue: `countersign-review${system.suffix}`,
    args: [submission],
    signal: 'answer',
    signalArgs: [[true]],
  });
  const status = await system.waiting(changeId);
  expect(status.violations.map((v) => v.resolution)).toEqual(['pending']);
  expect((await newRefusals(changeId, 0)).map((r) => r.code)).toEqual(['malformed']);
  expect(verifyChain(await system.ledger(changeId))).toMatchObject({ ok: true });
  for (const id of [changeId, bytes.changeId]) await system.countersign.withdraw(id, { actor: 'dana', reason: '' });
});

test('the ledger records 100 refusals, counts further ones and repeated ones, and the review still accepts an answer', async () => {
  const { changeId } = await system.submit(waitingPrice(18));
  const status = await system.waiting(changeId);
  const codesOfFifty = async (batch: number): Promise<Set<string>> => {
    const answers = Array.from({ length: 50 }, (_, i) => ({
      violationId: otherHash,
      fingerprint: otherHash,
      decision: 'confirm',
      reason: `${batch}.${i}`,
      actor: 'alice',
    }));
    const results = await handle(changeId).executeUpdate<AnswerResults, [unknown]>('answer', { args: [{ answers }] });
    expect(Object.keys(results)).toHaveLength(50);
    return new Set(Object.values(results).map((r) => r.code));
  };
  expect(await codesOfFifty(0)).toEqual(new Set(['unsigned_not_accepted']));
  expect(await codesOfFifty(0)).toEqual(new Set(['unsigned_not_accepted']));
  expect(await refusals(changeId)).toHaveLength(50);
  expect(await codesOfFifty(1)).toEqual(new Set(['unsigned_not_accepted']));
  expect(await codesOfFifty(2)).toEqual(new Set(['too_many_refusals']));
  expect(await refusals(changeId)).toHaveLength(100);
  await system.countersign.answer(changeId, system.sign(status, 'alice', 'confirm'));
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED' });
});

test('a change of an unknown requester needs two different people', async () => {
  const { changeId } = await system
    .client(null)
    .submit({ ...PRICE(20, 1, 700), target: 'shop', requestKey: system.suffix });
  const status = await system.waiting(changeId);
  expect(status).toMatchObject({ requester: null, violations: [{ quorum: 2 }] });
  expect(status.warnings.join()).toContain('Requester unknown');
  await system.answer(changeId, 'alice', 'confirm');
  await system.answer(changeId, 'alice', 'confirm');
  expect((await system.countersign.status(changeId)).violations).toMatchObject([
    { resolution: 'pending', confirmedBy: ['alice'] },
  ]);
  await system.answer(changeId, 'bob', 'confirm');
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED', verified: true });
});

test('malformed withdraw and supersede messages change nothing, by update and by signal', async () => {
  const { changeId } = await system.submit(waitingPrice(22));
  await system.waiting(changeId);
  for (const name of ['withdraw', 'supersede']) {
    for (const message of [null, [], { actor: '' }, { actor: 'dana', by: 'that one', reason: 1 }]) {
      await expect(handle(changeId).executeUpdate(name, { args: [message] })).resolves.toMatchObject({
        code: 'malformed',
      });
      await handle(changeId).signal(name, message);
    }
  }
  await handle(changeId).signal('no_such_signal', 1);
  expect((await system.countersign.status(changeId)).state).toBe('INTERVENTION_REQUIRED');
  await system.answer(changeId, 'bob', 'confirm');
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED' });
  expect(await failedTasks(changeId)).toBe(0);
});

test('a payload that cannot be decoded neither answers nor blocks the review', async () => {
  const { changeId } = await system.submit(waitingPrice(24));
  await system.waiting(changeId);
  const { workflowService, options } = {
    workflowService: system.temporal.workflowService,
    options: system.temporal.options,
  };
  const payloads = [
    { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"answers": [') },
    { metadata: { encoding: Buffer.from('binary/encrypted') }, data: Buffer.from([1, 2, 3]) },
    { metadata: {}, data: Buffer.from('{}') },
  ];
  for (const payload of payloads) {
    for (const signalName of ['answer', 'withdraw', 'supersede', 'other']) {
      await workflowService.signalWorkflowExecution({
        namespace: options.namespace,
        workflowExecution: { workflowId: changeId },
        signalName,
        input: { payloads: [payload] },
      });
    }
  }
  await system.answer(changeId, 'bob', 'confirm');
  await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED' });
});
