/**
 * The attacker completes activities in place of our workers: by id, before the worker does or while the queue's rate limit is 0.
 * A workflow that was lied to may ask for a rollback that the rows do not support; the reconciler then ends its review.
 */
import type { ReviewStatus } from '../../../policy/contracts/status';
import type { PolicyViolation } from '../../../policy/contracts/violation';
import { stagingSha as stagingShaOf } from '../../../policy/contracts/staging-record';
import { stagingRecord } from '../../../dev/staging-record';
import { signPredicate } from '../../../signing/envelope';
import { newKeyPair } from '../../../signing/keys';
import { endInLedger, raisePay, refundOrder, refused, topUp, type Attack, type Attempt } from '../attack';
import type { Testbed } from '../testbed';
import { pause, RaceLost } from '../namespace-writer';

const allow = (id: string) => ({ validator_id: id, status: 'ALLOW', reason: '', evidenceRefs: [] });

/** Within this time after the lie the ledger must have an end. */
const ENDS_MS = 60_000;

/** Runs `work` while the rate limit of these queues is 0, so that no worker gets their activities. */
async function throttled<T>(testbed: Testbed, queues: readonly string[], work: () => Promise<T>): Promise<T> {
  for (const queue of queues) await testbed.attacker.throttle(queue, true);
  try {
    return await work();
  } finally {
    for (const queue of queues) await testbed.attacker.throttle(queue, false);
  }
}

/**
 * Whether the poller got the commit activity. Does not wait for the end of the review if our committer got it, because the
 * poller also delays its rollback.
 */
async function isStolen(testbed: Testbed, stolen: ReadonlySet<string>, changeId: string): Promise<boolean> {
  for (let i = 0; i < 200 && !stolen.has(changeId); i++) {
    if ((await testbed.rows(changeId)).some(({ kind }) => kind === 'refused')) return false;
    await pause(100);
  }
  return stolen.has(changeId);
}

/** Makes the workflow believe that these people have confirmed every violation. */
async function forgeAdmission(
  testbed: Testbed,
  status: ReviewStatus,
  people: readonly string[] = ['alice'],
): Promise<void> {
  const admitted = people.flatMap((person, i) =>
    status.violations.map(({ violationId }) => ({
      violationId,
      fingerprint: status.fingerprint,
      decision: 'confirm',
      person,
      signed: true,
      reason: 'seen',
      issuedAt: new Date().toISOString(),
      retracts: null,
      admittedAt: new Date().toISOString(),
      digest: String(i).repeat(64),
    })),
  );
  const { attacker } = testbed;
  const next = await attacker.nextActivity(status.changeId);
  const race = attacker.race(status.changeId, next, { results: {}, admitted });
  // The maximum number of answers in a message, to keep our worker busy.
  const junk = Array.from({ length: 50 }, () => testbed.sign(status, newKeyPair())).flat();
  await Promise.all([race, testbed.signal(status.changeId, junk.slice(0, 50))]);
}

/** The review must end in a rollback, although its workflow was lied to. */
function endsLater(testbed: Testbed, changeId: string, refusal: Attempt['refusal']): Attempt {
  return {
    changeId,
    refusal,
    async check() {
      const end = await endInLedger(testbed, changeId, ENDS_MS);
      return end?.startsWith('ROLLED_BACK') === true
        ? null
        : `the review of a deceived workflow is ${end ?? 'still open'}`;
    },
  };
}

/** The result of a committer, with a receipt of the attacker's choice. */
const committed = (receipt: unknown) => ({
  state: 'COMMITTED',
  reason: null,
  explanation: 'Committed',
  mode: 'enforced',
  planHash: '0'.repeat(64),
  stagingSha: null,
  receipt,
});

function forgedCommit(
  name: string,
  why: string,
  receiptFor: (testbed: Testbed, changeId: string) => Promise<unknown>,
): Attack {
  return {
    name: `complete-activity by id: commit, ${name}`,
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(12));
      const { changeId } = status;
      const receipt = await receiptFor(testbed, changeId);
      await throttled(testbed, [testbed.queues.commit], async () => {
        await forgeAdmission(testbed, status);
        await testbed.attacker.complete(changeId, 'commit', committed(receipt));
        await testbed.ended(changeId);
      });
      return { changeId, refusal: null, forged: why };
    },
  };
}

/** The outcome of the workflow is forged. */
export const COMPLETIONS: readonly Attack[] = [
  {
    name: 'complete-activity by id: callbacks',
    async run(testbed) {
      const gift = {
        sourceTool: 'SQLDryRun',
        raw: 'update gifts set cents = 90000 where id = 10',
        metadata: { table_name: 'gifts', affected_rows: 1, cents: 90_000 },
      };
      const honest = await testbed.ended(await testbed.submit(gift));
      if (honest.state === 'ABORTED') throw new Error(honest.why);
      const resolved = honest.outcome.violations.map((v): PolicyViolation => ({
        ...v,
        need: 'callback',
        callbackResult: { passed: true, message: null },
      }));
      const forged = {
        violations: resolved,
        fingerprint: '0'.repeat(64),
        disclosedAt: new Date().toISOString(),
        reachable: ['alice'],
      };
      let race: Promise<void> = Promise.resolve();
      const changeId = await throttled(testbed, [testbed.queues.judge], async () => {
        const id = await testbed.submit(gift);
        const asked = await testbed.attacker.pending(id, 'askJudge');
        race = testbed.attacker.race(id, String(Number(asked) + 1), forged);
        return id;
      });
      await race;
      await testbed.ended(changeId);
      // Our worker may have written its disclosure too, before it learned that the activity was completed.
      return { changeId, refusal: refused('disclosure') };
    },
  },
  forgedCommit('without a receipt', 'the outcome has no receipt', async () => null),
  forgedCommit(
    'with a receipt signed with another key',
    'which is not a trusted committer key',
    async (testbed, changeId) => {
      const mallory = newKeyPair();
      const genuine = await testbed.receiptOf(await testbed.submit(topUp(13)));
      return signPredicate('receipt', { ...genuine.predicate, changeId, keyId: mallory.keyId }, mallory);
    },
  ),
  forgedCommit('with the genuine receipt of another change', 'changeId: the receipt has', async (testbed) => {
    const genuine = await testbed.receiptOf(await testbed.submit(topUp(14)));
    return genuine.envelope;
  }),
  {
    name: 'complete-activity by id: rollback, with the result of a commit',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(15));
      const { changeId } = status;
      await throttled(testbed, [testbed.queues.commit], async () => {
        await testbed.update(changeId, testbed.sign(status, testbed.keyOf('alice'), 'reject'));
        await testbed.attacker.complete(changeId, 'rollback', committed(null));
        await testbed.ended(changeId);
      });
      return { changeId, refusal: null, forged: 'the outcome has no receipt' };
    },
  },
  {
    name: 'a hostile worker polls the commit queue',
    async run(testbed) {
      // Dry runs first, because the poller would take those as well. The server serves our committer's older polls before it.
      const open = await Promise.all(Array.from({ length: 16 }, (_, i) => testbed.submitAndWait(refundOrder(i + 1))));
      const poller = testbed.attacker.poll(testbed.queues.commit, 'commit', committed(null));
      try {
        for (const status of open) {
          const { changeId } = status;
          await forgeAdmission(testbed, status);
          if (!(await isStolen(testbed, poller.stolen, changeId))) continue;
          await testbed.ended(changeId);
          return { changeId, refusal: null, forged: 'the outcome has no receipt' };
        }
        throw new RaceLost(`our committer was first, ${open.length} times`);
      } finally {
        await poller.stop();
      }
    },
  },
];

/** The workflow is deceived, so that it asks for an end that the rows do not support. The committer then ends the review in seconds. */
const LIES: readonly Attack[] = [
  {
    name: 'complete-activity by id: guardians',
    async run(testbed) {
      const rules = await testbed.staticRules((await testbed.submitAndWait(refundOrder(8))).changeId);
      const units = [...new Set(rules.map(({ unit }) => unit))];
      const blocking = rules.find(({ id }) => id === 'guardian.orders');
      // Activity 1 opens the review; then follows one for each unit, in the order of the plan.
      const activityId = String(2 + units.indexOf(blocking?.unit ?? ''));
      const { changeId, submission } = await testbed.prepared(refundOrder(8));
      const race = testbed.attacker.race(changeId, activityId, { allowed: ['guardian.orders'], results: {} });
      await Promise.all([race, testbed.startReview(changeId, submission)]);
      const refusal = refused('disclosure', 'violations that were not disclosed');
      await testbed.waitForRow(changeId, refusal);
      return endsLater(testbed, changeId, refusal);
    },
  },
  {
    name: 'complete-activity by id: stage',
    async run(testbed) {
      const record = stagingRecord();
      const changeId = await throttled(testbed, [testbed.queues.commit], async () => {
        const id = await testbed.submit(topUp(9));
        const allowed = (await testbed.planOf(id)).validators.map((v) => v.id);
        const reported = { allowed, results: {} };
        const staged = { kind: 'staged', record, stagingSha: stagingShaOf(record), title: 'nothing', reported };
        await testbed.attacker.complete(id, 'stage', staged);
        return id;
      });
      await testbed.waitForRow(changeId, refused('staging'));
      return endsLater(testbed, changeId, refused('staging'));
    },
  },
  {
    name: 'complete-activity by id: judge',
    async run(testbed) {
      const change = { ...topUp(11), raw: `update accounts set owner = 'mallory' where id = 11` };
      const changeId = await throttled(testbed, [testbed.queues.judge], async () => {
        const id = await testbed.submit(change);
        await testbed.attacker.complete(id, 'askJudge', { result: allow('guardian.llm_judge'), reused: false });
        return id;
      });
      const refusal = refused('findings', 'guardian.llm_judge: its records give');
      await testbed.waitForRow(changeId, refusal);
      return endsLater(testbed, changeId, refusal);
    },
  },
  {
    name: 'complete-activity by id: admission',
    async run(testbed) {
      const status = await testbed.submitAndWait(raisePay(12));
      await forgeAdmission(testbed, status, ['alice', 'bob']);
      await testbed.waitForRow(status.changeId, refused('decision'));
      return endsLater(testbed, status.changeId, refused('decision'));
    },
  },
];

export const DECEPTIONS: readonly Attack[] = LIES.map((each) => ({ ...each, reconciles: 'in seconds' }));
