import { createSigner } from '../../client/signer';
import type { AnswerResults } from '../../policy/contracts/answer';
import type { Envelope } from '../../policy/contracts/diff';
import type { ReviewStatus } from '../../policy/contracts/status';
import { verifyChain } from '../../policy/evidence/chain';
import { statementOf } from '../../policy/evidence/statement';
import { newKeyPair, newNonce } from '../../signing/keys';
import { GIFT_POLICY, SHOP_SQL, shopBundle, shopExtension } from '../support/shop-bundle';
import { replay } from '../support/replay';
import { pause, startSystem, workflowBundlePath, type System, type TestKey } from '../support/system';
import { humanViolations, PRICE, update, waitingPrice } from './scenarios';

let system: System;
/** While it is set, a commit waits at its door. */
let gate: Promise<void> | null = null;
/** While it is set, the disclosure stands in the ledger and the workflow does not hear of it. */
let unheard: Promise<void> | null = null;
beforeAll(async () => {
  system = await startSystem({
    name: 'messages',
    bundleText: shopBundle({ policies: GIFT_POLICY }).replace(
      'dba: { members: [alice, bob] }',
      'dba: { members: [alice, bob, dana, gone] }',
    ),
    extension: shopExtension,
    shopSql: SHOP_SQL,
    wrap: (worker, activities) => {
      if (worker === 'review') {
        const { disclose } = activities as { disclose: (input: unknown) => Promise<unknown> };
        const late = async (input: unknown): Promise<unknown> => {
          const disclosed = await disclose(input);
          await unheard;
          return disclosed;
        };
        return { ...activities, disclose: late };
      }
      if (worker !== 'commit') return activities;
      const { commit } = activities as { commit: (input: unknown) => Promise<unknown> };
      return { ...activities, commit: async (input: unknown) => (await gate, await commit(input)) };
    },
  });
}, 120_000);
afterAll(() => system.close());
jest.setTimeout(120_000);

type Via = 'update' | 'signal';
const handle = (changeId: string) => system.temporal.workflow.getHandle(changeId);

/** Refused answers as the ledger has them, in order. */
async function refusals(changeId: string): Promise<{ code: string; via: string; message: string }[]> {
  return (await system.ledger(changeId))
    .filter(({ row }) => row.kind === 'answer_refused')
    .map(({ row }) => row.body as never);
}

/** Sends any message at all, and says what became of each answer: from the update's result, or from the ledger. */
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
  return (await grown(changeId, before)).map((r) => r.code);
}

async function grown(changeId: string, before: number): ReturnType<typeof refusals> {
  for (const until = Date.now() + 60_000; Date.now() < until; await pause(50)) {
    const rows = (await refusals(changeId)).slice(before);
    if (rows.length > 0) return rows;
  }
  throw new Error('The ledger holds no refusal');
}

async function failedTasks(changeId: string): Promise<number> {
  const { events } = await handle(changeId).fetchHistory();
  return (events ?? []).filter((e) => e.workflowTaskFailedEventAttributes != null).length;
}

/** Two violations wait for a person; a third is resolved by its callback. */
let rows = 0;
async function openReview(): Promise<ReviewStatus> {
  const change = update(`update gifts set cents = cents + ${++rows}`, 'gifts', 30);
  const { changeId } = await system.submit({ ...change, metadata: { ...change.metadata, cents: 1 } });
  return await system.waiting(changeId);
}

interface World {
  readonly status: ReviewStatus;
  readonly human: string;
  readonly dana: TestKey;
  readonly gone: TestKey;
  readonly eve: TestKey;
}
type Sent = (world: World) => unknown;
const confirm = (
  world: World,
  person: Parameters<System['sign']>[1],
  over: Partial<ReviewStatus> = {},
  violation = world.human,
): Envelope => system.sign({ ...world.status, ...over }, person, 'confirm', [violation])[0] as Envelope;
const one = (answer: unknown): unknown => ({ answers: [answer] });
const plain = (world: World, over: object = {}): object => ({
  violationId: world.human,
  fingerprint: world.status.fingerprint,
  decision: 'confirm',
  reason: '',
  actor: 'alice',
  ...over,
});

function tampered(envelope: Envelope): Envelope {
  const payload = Buffer.from(envelope.payload, 'base64')
    .toString()
    .replace('"decision":"confirm"', '"decision":"reject"');
  return { ...envelope, payload: Buffer.from(payload).toString('base64') };
}

function expired(world: World): Envelope {
  const { changeId, fingerprint, tenant, target } = world.status;
  const signer = createSigner(system.key('alice'));
  const at = (ms: number): string => new Date(Date.now() + ms).toISOString();
  return signer.sign(
    statementOf('answer', {
      changeId,
      fingerprint: fingerprint ?? '',
      violationId: world.human,
      decision: 'confirm',
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
const CASES: readonly (readonly [string, string | readonly string[], Sent])[] = [
  ['answers by position', 'malformed', () => [true, true]],
  ['answers that are booleans', ['malformed', 'malformed'], () => ({ answers: [true, false] })],
  ['no message', 'malformed', () => null],
  ['a text', 'malformed', () => 'confirm'],
  ['no answers', 'malformed', () => ({ answers: [] })],
  ['a member that is not known', 'malformed', (w) => ({ answers: [confirm(w, 'alice')], approveAll: true })],
  ['the decision "false", as a text', 'malformed', (w) => one(plain(w, { decision: 'false' }))],
  ['the decision true', 'malformed', (w) => one(plain(w, { decision: true }))],
  ['an unsigned answer where signed ones are asked', 'unsigned_not_accepted', (w) => one(plain(w))],
  ['a signature that was made on another text', 'bad_signature', (w) => one(tampered(confirm(w, 'alice')))],
  ['a key that nobody registered', 'unknown_key', (w) => one(confirm(w, { ...w.eve, ...newKeyPair() }))],
  ['a revoked key', 'revoked_key', (w) => one(confirm(w, w.gone))],
  ['a person outside of the group', 'not_eligible', (w) => one(confirm(w, w.eve))],
  ['the agent’s own key', 'not_eligible', (w) => one(confirm(w, 'agent'))],
  ['the key of a worker', 'not_eligible', (w) => one(confirm(w, 'attestor-review'))],
  ['the requester’s own key: four eyes', 'not_eligible', (w) => one(confirm(w, w.dana))],
  [
    'a fingerprint of something else [T60]',
    'wrong_fingerprint',
    (w) => one(confirm(w, 'alice', { fingerprint: otherHash })),
  ],
  ['another change', 'wrong_context', (w) => one(confirm(w, 'alice', { changeId: otherHash }))],
  ['another target', 'wrong_context', (w) => one(confirm(w, 'alice', { target: 'bank' }))],
  [
    'a violation that does not exist [T56]',
    'unknown_violation',
    (w) =>
      one(
        confirm(
          w,
          'alice',
          { violations: w.status.violations.map((v) => ({ ...v, violationId: otherHash })) },
          otherHash,
        ),
      ),
  ],
  [
    'a violation that waits for nobody [T56]',
    'needs_no_answer',
    (w) => one(confirm(w, 'alice', {}, w.status.violations.find((v) => v.need === 'callback')?.violationId)),
  ],
  ['an answer past its own expiry', 'expired', (w) => one(expired(w))],
];

describe.each<Via>(['update', 'signal'])('an answer by %s', (via) => {
  let world: World;
  beforeAll(async () => {
    const status = await openReview();
    const label = (id: string) => ({ kind: 'approver', subject: { type: 'person', id } }) as const;
    const [dana, gone, eve] = [
      await system.addKey(label('dana')),
      await system.addKey(label('gone')),
      await system.addKey(label('eve')),
    ];
    await system.revokeKey(gone.keyId);
    world = { status, human: humanViolations(status)[0] ?? '', dana, gone, eve };
  });

  test.each(CASES)(
    'with %s is refused as %s, stands in the ledger and changes nothing [T56, T58]',
    async (_title, code, sent) => {
      const { changeId } = world.status;
      expect(await send(changeId, sent(world), via)).toEqual([code].flat());
      const now = await system.countersign.status(changeId);
      expect({ state: now.state, violations: now.violations }).toEqual({
        state: 'INTERVENTION_REQUIRED',
        violations: world.status.violations,
      });
    },
  );

  test('twice counts once; one that contradicts it cannot flip it; then the rest commits, without one failed workflow task [T57]', async () => {
    const { status, human } = world;
    const { changeId } = status;
    const yes = confirm(world, 'alice');
    const no = system.sign(status, 'alice', 'reject', [human]);
    if (via === 'update') {
      expect(await send(changeId, one(yes), via)).toEqual(['accepted']);
      expect(await send(changeId, one(yes), via)).toEqual(['duplicate']);
    } else {
      await system.countersign.answer(changeId, [yes], { via });
      await system.countersign.answer(changeId, [yes], { via });
    }
    expect(await send(changeId, { answers: no }, via)).toEqual(['contradicts']);
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

  test('before its violation exists is refused; the review then asks as if nothing had come [T59]', async () => {
    await system.stopWorker('commit');
    const submitted = await system.submit(waitingPrice(via === 'update' ? 1 : 2));
    const { changeId } = submitted;
    const status = {
      ...(await system.countersign.status(changeId)),
      fingerprint: otherHash,
      environment: 'development' as const,
    };
    const early = confirm(
      { ...world, status },
      'alice',
      {
        violations: [{ ...(world.status.violations[0] as ReviewStatus['violations'][number]), violationId: otherHash }],
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

  test('to a violation that stands in the ledger counts, though the workflow has not heard of its disclosure yet', async () => {
    let hear = (): void => {};
    unheard = new Promise((resolve) => (hear = resolve));
    const { changeId } = await system.submit(waitingPrice(via === 'update' ? 26 : 27));
    const disclosed = async () => (await system.ledger(changeId)).find(({ row }) => row.kind === 'disclosed')?.row.body;
    for (let i = 0; i < 1_200 && (await disclosed()) === undefined; i++) await pause(50);
    const { fingerprint, violations } = (await disclosed()) as unknown as Pick<
      ReviewStatus,
      'fingerprint' | 'violations'
    >;
    const unaware = await system.countersign.status(changeId);
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
    hear();
    unheard = null;
    await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED', verified: true });
    if (answered !== undefined) expect(Object.values(await answered.result()).map((r) => r.code)).toEqual(['accepted']);
    expect([await refusals(changeId), await failedTasks(changeId)]).toEqual([[], 0]);
    await replay({ codePath: workflowBundlePath() }, await handle(changeId).fetchHistory(), changeId);
  });

  test('while the commit runs, and after it, is refused as closed, and stands in the ledger [T56]', async () => {
    const { changeId } = await system.submit(waitingPrice(via === 'update' ? 3 : 4));
    const status = await system.waiting(changeId);
    let open = (): void => {};
    gate = new Promise((resolve) => (open = resolve));
    await system.answer(changeId, 'alice', 'confirm');
    expect(await send(changeId, { answers: system.sign(status, 'bob', 'reject') }, via)).toEqual(['closed']);
    open();
    gate = null;
    await expect(system.ended(changeId)).resolves.toMatchObject({ state: 'COMMITTED' });
    const results = await system.countersign.answer(changeId, system.sign(status, 'bob', 'reject'), { via });
    expect(Object.values(results).map((r) => r.code)).toEqual(['closed']);
    expect((await refusals(changeId)).map((r) => r.code)).toEqual(['closed', 'closed']);
    expect((await system.ended(changeId)).state).toBe('COMMITTED');
  });

  test('for a review that does not exist says so', async () => {
    await expect(system.countersign.answer(otherHash, [confirm(world, 'alice')], { via })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

test('a review that is reset to before its answers, though the ledger has its end, ends as it stands there and applies nothing', async () => {
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

test('a signal that comes with the start, before anything was looked at, neither crashes nor answers the review [T59]', async () => {
  const { submission, changeId } = system.countersign.prepare({
    ...waitingPrice(5),
    target: 'shop',
    requestKey: system.suffix,
  });
  await system.countersign.submit({ ...waitingPrice(6), target: 'shop', requestKey: system.suffix });
  // The bytes are in the store since another submission of them.
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
  expect((await refusals(changeId)).map((r) => r.code)).toEqual(['malformed']);
  expect(verifyChain(await system.ledger(changeId))).toMatchObject({ ok: true });
  for (const id of [changeId, bytes.changeId]) await system.countersign.withdraw(id, { actor: 'dana', reason: '' });
});

test('a hundred refusals stand in the ledger, further ones are counted, and the review still takes an answer', async () => {
  const { changeId } = await system.submit(waitingPrice(18));
  const status = await system.waiting(changeId);
  const fifty = {
    answers: Array.from({ length: 50 }, (_, i) => ({
      violationId: otherHash,
      fingerprint: otherHash,
      decision: 'confirm',
      reason: String(i),
      actor: 'alice',
    })),
  };
  const last = async (): Promise<string[]> =>
    Object.values(await handle(changeId).executeUpdate<AnswerResults, [unknown]>('answer', { args: [fifty] })).map(
      (r) => r.code,
    );
  await last();
  await last();
  expect(new Set(await last())).toEqual(new Set(['too_many_refusals']));
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

test('withdraw and supersede that are malformed change nothing, by update and by signal', async () => {
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

test('a payload that nobody can decode neither answers the review nor keeps it from its end', async () => {
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
