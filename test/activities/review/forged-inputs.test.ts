import { createJudgeActivities } from '../../../activities/judge/create-judge-activities';
import { recordFailures } from '../../../activities/record-failures';
import { inActivity } from '../../../dev/activity-context';
import type { JsonObject } from '../../../policy/contracts/canonical-json';
import { LedgerKind } from '../../../policy/contracts/ledger';
import { MAX_GUARDIAN_ATTEMPTS } from '../../../policy/contracts/limits';
import { openEnvelope } from '../../../policy/evidence/dsse';
import type { Ledger } from '../../../policy/evidence/ledger-port';
import { JUDGE_ID } from '../../../policy/judge/config';
import { failureType } from '../../support/review/failure-type';
import { reviewActivities } from '../../support/review/review-deps';
import { ReviewWorld } from '../../support/review/review-world';
import { judgeWorld } from '../judge/judge-world';

/** Types that are never retried, of a failure that the input causes. */
const REFUSED = /^(VALIDATION_ERROR|DIGEST_MISMATCH|CONFIGURATION_ERROR)$/;
/** `String` of these throws. */
const TEXTLESS = { toString: 1 };
const DEEP: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));

/** The rest of a valid input of each activity. */
const GIVEN = {
  runGuardians: { unit: 'demo-pack' },
  stage: {},
  disclose: { stagingSha: null, unrecorded: {} },
  askJudge: { stagingSha: null, validatorId: JUDGE_ID },
  attestJudgeFailure: { stagingSha: null, validatorId: JUDGE_ID, failureType: 'TimeoutFailure', message: 'timeout: x' },
} as const;
type Name = keyof typeof GIVEN;

/** Runs an activity with any JSON as its input, as its worker does in the last attempt. No model answers. */
function schedule(world: ReviewWorld, name: Name, input: unknown, ledger: Ledger = world.ledger): Promise<unknown> {
  const { store, tools, attestor, plans } = world;
  const loadPlan = async (hash: string) => (await plans.byHash(hash)).plan;
  const ask = () => Promise.reject(new Error('The model was asked'));
  const over = { store, tools, attestor: async () => attestor, ledger, loadPlan, transport: { host: 'model', ask } };
  const activities: Readonly<Record<Name, (given: never) => Promise<unknown>>> = {
    ...recordFailures({ ledger, now: () => world.clock() }, reviewActivities({ ...world.deps, ledger })),
    ...createJudgeActivities(judgeWorld({ baseUrl: 'http://127.0.0.1:9/v1' }, over).deps),
  };
  return inActivity(async () => activities[name](input as never), { attempt: MAX_GUARDIAN_ATTEMPTS });
}

/** Takes no NUL, as PostgreSQL, and finds the rows of an id also by a list of it, as a driver might that sends all as text. */
function sending(ledger: Ledger): Ledger {
  const readKinds: Ledger['readKinds'] = async (given, kinds) => {
    if (String(given).includes('\0')) throw new Error('invalid byte sequence for encoding "UTF8": 0x00');
    return ledger.readKinds(String(given), kinds);
  };
  return { ...ledger, readKinds, read: async (given) => readKinds(given, LedgerKind.options) };
}

type Forged = readonly ['submitted' | 'planned', object];
/** Appends rows as the role of the review worker. */
async function forge(world: ReviewWorld, changeId: string, rows: readonly Forged[]): Promise<void> {
  const common = (i: number) => ({ at: world.at(), factKey: `forged:${i}` });
  await world.ledger.append(
    changeId,
    rows.map(([kind, body], i) => ({ kind, body: body as JsonObject, ...common(i) })),
  );
}

const { changeId: id, submission, planHash } = new ReviewWorld({ text: 'HOLD' });
const other = new ReviewWorld({ text: 'HOLD', sourceTool: 'Refund' });
const submitted: Forged = ['submitted', { submission }];
const ofAnother: Forged = ['submitted', { submission: other.submission }];
const planned: Forged = ['planned', { planHash }];

describe.each(Object.keys(GIVEN) as Name[])('%s', (name) => {
  const world = new ReviewWorld({ text: 'HOLD' });
  beforeAll(() => world.openUnguarded());
  const notIds = [[id], TEXTLESS, DEEP, id.toUpperCase(), `${id}\n`, `${id}\0`, '\ud800', 7, null, undefined];

  test.each<readonly [unknown, Ledger]>([
    ...notIds.map((changeId) => [{ ...GIVEN[name], changeId }, world.ledger] as const),
    ...[[id], `${id}\0`].map((changeId) => [{ ...GIVEN[name], changeId }, sending(world.ledger)] as const),
    ...[null, undefined, 'text', []].map((input) => [input, world.ledger] as const),
    [JSON.parse(`{"__proto__":{"changeId":"${id}"}}`), world.ledger],
  ])('refuses an input without a text that is an id, and writes nothing (%#)', async (input, ledger) => {
    const before = world.ledger.all.length;
    expect(await failureType(schedule(world, name, input, ledger))).toMatch(REFUSED);
    expect(world.ledger.all).toHaveLength(before);
  });

  test('does not repeat a very long id in its failure, which would be too large to report', async () => {
    const input = { ...GIVEN[name], changeId: 'x'.repeat(1_000_000) };
    const failure = await schedule(world, name, input).catch((error: unknown) => error);
    expect(String(failure).length + JSON.stringify(failure).length).toBeLessThan(10_000);
  });

  test.each<readonly [string, string, readonly Forged[]]>([
    ['nothing', 'VALIDATION_ERROR', []],
    ['only a plan', 'VALIDATION_ERROR', [planned]],
    ['only a submission', 'VALIDATION_ERROR', [submitted]],
    ['another submission before its own', 'DIGEST_MISMATCH', [ofAnother, submitted, planned]],
  ])('writes nothing under an id whose rows have %s [P8]', async (_what, type, rows) => {
    const forged = new ReviewWorld({ text: 'HOLD' });
    await forge(forged, id, rows);
    expect(await failureType(schedule(forged, name, { ...GIVEN[name], changeId: id }))).toBe(type);
    expect(forged.ledger.all).toHaveLength(rows.length);
  });

  test('makes nothing of a change whose recorded plan is for another source tool [P8]', async () => {
    const refund = new ReviewWorld({ text: 'HOLD', sourceTool: 'Refund' });
    await refund.store.put('acme', refund.raw);
    await forge(refund, id, [submitted, ['planned', { planHash: refund.planHash }]]);
    await failureType(schedule(refund, name, { ...GIVEN[name], changeId: id }));
    expect(refund.ledger.all.slice(2).filter(({ row }) => row.kind !== 'refused')).toEqual([]);
  });
});

test.each<readonly [Name, object]>([
  ['runGuardians', { unit: TEXTLESS }],
  ['disclose', { unrecorded: { 'guardian.demo_hold': '\ud800' } }],
  [
    'disclose',
    { unrecorded: { [JUDGE_ID]: { result: { validator_id: JUDGE_ID, status: 'ALLOW', reason: '\ud800' } } } },
  ],
  ['disclose', { stagingSha: '0'.repeat(64) }],
  ['disclose', { stagingSha: TEXTLESS }],
  ['askJudge', { stagingSha: 'x' }],
  ['attestJudgeFailure', { stagingSha: '\ud800' }],
  ['attestJudgeFailure', { message: 7 }],
  ['attestJudgeFailure', { validatorId: [JUDGE_ID] }],
  ['attestJudgeFailure', { validatorId: TEXTLESS }],
])('%s refuses a member of the wrong form, and writes at most a refusal: %j', async (name, forged) => {
  const world = new ReviewWorld({ text: 'HOLD' });
  await world.open();
  await world.stage();
  if (!('unrecorded' in forged)) await world.judged({ status: 'ALLOW' });
  const before = world.ledger.all.length;
  const type = await failureType(schedule(world, name, { ...GIVEN[name], ...world.input, ...forged }));
  const written = world.ledger.all.slice(before).map(({ row: { kind, body } }) => body['check'] ?? kind);
  expect(written.filter((what) => what !== 'disclose: findings')).toEqual([]);
  expect(type).toMatch(REFUSED);
});

test('the first rows of a change count, whatever the role of the review worker appends after them [P8]', async () => {
  const [world, untouched] = [new ReviewWorld({ text: 'HOLD' }), new ReviewWorld({ text: 'HOLD' })];
  for (const each of [world, untouched]) await each.openUnguarded();
  await forge(world, id, [ofAnother, ['planned', { planHash: other.planHash }]]);
  for (const name of ['runGuardians', 'stage', 'attestJudgeFailure'] as const) {
    const input = { ...GIVEN[name], changeId: id };
    expect(await schedule(world, name, input)).toEqual(await schedule(untouched, name, input));
  }
  const { row } = (await world.ledger.readKinds(id, ['attested'])).at(-1) ?? {};
  const predicate = { kind: 'judge', changeId: id, inputSha: world.inputSha, planHash };
  expect(openEnvelope('attested', row?.body['envelope'])).toMatchObject({ statement: { predicate } });
});
