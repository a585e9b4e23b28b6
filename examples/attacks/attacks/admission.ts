/** The attacker schedules activities of review worker and committer: before their time, after the end, with invented members. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ReviewStatus } from '../../../policy/contracts/status';
import { appendAs } from '../append-as';
import { answerRefused, refundOrder, refused, topUp, unsignedAnswers, type Attack, type Attempt } from '../attack';
import { ENDED, ifRefused } from '../if-refused';
import type { Testbed } from '../testbed';
import { throttled } from '../throttled';

async function rehearsalsOf(testbed: Testbed, changeId: string): Promise<number> {
  const rows = await testbed.ledger('select 1 from rehearsals where change_id = $1', [changeId]);
  return rows.length;
}

/** `admitAnswer`, scheduled with members that no workflow sends. The refusal `code` must be recorded. */
function admitted(
  name: string,
  id: number,
  [code, words]: readonly [string, string],
  answers: (testbed: Testbed, status: ReviewStatus) => readonly unknown[],
): Attack {
  return {
    name: `admission: ${name}`,
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(id));
      const { changeId } = status;
      const input = {
        ...testbed.admission(status, answers(testbed, status)),
        answersMode: 'unsigned',
        development: true,
        scope: { answers: 'unsigned' },
        at: '2000-01-01T00:00:00.000Z',
      };
      const result = await testbed.attacker.schedule('admitAnswer', testbed.queues.review, input);
      if (!result.ok) throw new Error(`admitAnswer: ${result.message}`);
      await testbed.scheduleCommit(status);
      const rows = await testbed.rows(changeId);
      const accepted = rows.some(({ kind }) => kind === 'answer_accepted');
      return {
        changeId,
        refusal: answerRefused(code, words),
        achieved: accepted ? 'the answer was accepted' : null,
      };
    },
  };
}

/** The input of `disclose` for a change, with outcomes of the attacker's choice for all validators. */
const disclosure = async (testbed: Testbed, changeId: string) => ({
  changeId,
  stagingSha: null,
  unrecorded: Object.fromEntries(
    (await testbed.planOf(changeId)).validators.map(({ id }) => [id, { kind: 'skipped', reasonCode: 'judge_when' }]),
  ),
});

/** Withdraws the change: its review must end in the ledger as a rollback. Null if it does. */
async function endsByWithdrawal(testbed: Testbed, changeId: string): Promise<string | null> {
  await ifRefused(testbed.countersign.withdraw(changeId, { actor: 'dana', reason: 'no' }), ENDED, null);
  const closed = await testbed.waitForRow(changeId, ({ kind }) => kind === 'closed');
  const state = closed?.body['state'];
  return state === 'ROLLED_BACK' ? null : `the review is ${state === undefined ? 'still open' : JSON.stringify(state)}`;
}

/** Waits until the change was opened. */
async function opened(testbed: Testbed, changeId: string): Promise<void> {
  const row = await testbed.waitForRow(changeId, ({ kind }) => kind === 'planned');
  if (row === null) throw new Error('The change was not opened');
}

/** Runs `work` after the change was opened and before its dry run, then lets the review go on. */
async function beforeTheDryRun(
  testbed: Testbed,
  id: number,
  work: (changeId: string) => Promise<void>,
): Promise<string> {
  return throttled(testbed, [testbed.queues.commit], async () => {
    const changeId = await testbed.submit(refundOrder(id));
    await opened(testbed, changeId);
    await work(changeId);
    return changeId;
  });
}

async function discloseEarly(testbed: Testbed): Promise<Attempt> {
  const changeId = await beforeTheDryRun(testbed, 5, async (id) => {
    const input = await disclosure(testbed, id);
    const result = await testbed.attacker.schedule('disclose', testbed.queues.review, input);
    if (result.ok) throw new Error('disclose: it was disclosed');
  });
  await testbed.waitForRow(changeId, ({ kind }) => kind === 'staged');
  await pause(3_000);
  const committed = (await testbed.rows(changeId)).some(({ kind }) => kind === 'intent');
  const end = await endsByWithdrawal(testbed, changeId);
  const refusal = refused('disclose: findings', 'got safety.sql_affected_rows_limit');
  return { changeId, refusal, achieved: committed ? 'the commit began' : end };
}

/** The review worker cannot read the row, so the change cannot be disclosed, even if someone schedules `disclose`. */
async function malformedDisclosure(testbed: Testbed, order: number, body: string): Promise<Attempt> {
  const changeId = await beforeTheDryRun(testbed, order, async (id) => {
    const row = { kind: 'disclosed', body, fact: 'disclosed' };
    const refusal = await appendAs(testbed, 'cs_review', id, row);
    if (refusal !== null) throw new Error(refusal);
  });
  const end = await testbed.waitForRow(changeId, ({ kind }) => kind === 'closed');
  const input = await disclosure(testbed, changeId);
  const again = await testbed.attacker.schedule('disclose', testbed.queues.review, input);
  const problem = again.ok ? 'the scheduled activity disclosed it' : null;
  const state = String(end?.body['reason'] ?? end?.body['state'] ?? 'still open');
  return {
    changeId,
    refusal: refused('step_failed', 'The row `disclosed` of this change cannot be read'),
    achieved: problem ?? (state === 'commit_failed' ? null : `the review is ${state}`),
  };
}

/** An activity that is scheduled after the change was committed: it must do nothing, and its refusal is recorded. */
function afterTheEnd(activity: 'stage' | 'disclose', id: number, refusal: Attempt['refusal']): Attack {
  return {
    name: `admission: ${activity} scheduled after the end`,
    async run(testbed) {
      const changeId = await testbed.submit(topUp(id));
      const { state } = await testbed.ended(changeId);
      if (state !== 'COMMITTED') throw new Error(`The change is ${state}`);
      await testbed.baseline();
      const before = await rehearsalsOf(testbed, changeId);
      const queue = activity === 'stage' ? testbed.queues.commit : testbed.queues.review;
      const input = await disclosure(testbed, changeId);
      for (let i = 0; i < 2; i++) await testbed.attacker.schedule(activity, queue, input);
      const rehearsed = (await rehearsalsOf(testbed, changeId)) - before;
      const late = (await testbed.rows(changeId)).some(({ kind }) => kind === 'disclosed');
      const { verified } = await testbed.ended(changeId);
      const wrong = [
        ...(rehearsed > 0 ? [`${rehearsed} rows of rehearsals after the end`] : []),
        ...(late ? ['it was disclosed'] : []),
        ...(verified === true ? [] : ['its outcome is not verified']),
      ];
      return { changeId, refusal, achieved: wrong.length === 0 ? null : wrong.join(', ') };
    },
  };
}

export const ADMISSION: readonly Attack[] = [
  admitted(
    'an unsigned answer, with members that say that none needs a signature',
    1,
    ['unsigned_not_accepted', 'answers to this review must be signed'],
    (_, status) => unsignedAnswers(status),
  ),
  admitted('a signed answer with further members', 2, ['malformed', 'expected a signed envelope'], (testbed, status) =>
    testbed.sign(status, testbed.keyOf('alice')).map((envelope) => ({ ...envelope, person: 'alice', signed: true })),
  ),
  admitted(
    'an answer of an agent, with members that put it into the group',
    3,
    ['not_eligible', 'is registered as service'],
    (testbed, status) => testbed.sign(status, testbed.keyOf('agent')),
  ),
  { name: 'admission: disclose scheduled before the dry run, without findings', run: discloseEarly },
  {
    name: 'admission: a row `disclosed` of the review worker’s role that is empty',
    run: (testbed) => malformedDisclosure(testbed, 6, '{}'),
  },
  {
    name: 'admission: a row `disclosed` of the review worker’s role with members of other types',
    run: (testbed) =>
      malformedDisclosure(testbed, 7, '{"findings":1,"fingerprint":"x","stagingSha":"y","violations":"none"}'),
  },
  afterTheEnd('stage', 11, refused('stage', 'The change ends or has ended')),
  afterTheEnd('disclose', 12, refused('disclose: ended')),
];
