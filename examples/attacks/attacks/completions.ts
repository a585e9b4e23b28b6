/**
 * The attacker completes activities in place of our workers: by id, before the worker does or while the queue's rate limit is 0. What
 * runs as a local activity cannot be completed by others; there the attacker starts the workflow again with forged state.
 * A workflow that was lied to may ask for a rollback that the rows do not support; the reconciler then ends its review.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { AdmittedAnswer } from '../../../policy/contracts/answer';
import type { ReviewStatus } from '../../../policy/contracts/status';
import type { PolicyViolation } from '../../../policy/contracts/violation';
import { stagingSha as stagingShaOf } from '../../../policy/contracts/staging-record';
import { stagingRecord } from '../../../dev/staging-record';
import { signPredicate } from '../../../signing/envelope';
import { newKeyPair } from '../../../signing/keys';
import { committed, endInLedger, raisePay, refundOrder, refused, topUp, type Attack, type Attempt } from '../attack';
import type { Testbed } from '../testbed';
import { throttled } from '../throttled';
import { forgeOpening } from '../forged-opening';
import { forgedState, restartWith } from '../forged-state';
import { RaceLost } from '../namespace-writer';

const allow = (id: string) => ({ validator_id: id, status: 'ALLOW', reason: '', evidenceRefs: [] });

/** Within this time after the lie the ledger must have an end. */
const ENDS_MS = 120_000;

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

/** Makes the workflow count a confirmation of every violation by these people. */
async function forgeAnswers(testbed: Testbed, status: ReviewStatus, people: readonly string[]): Promise<void> {
  const state = await forgedState(testbed, status.changeId);
  const answers = people.flatMap((person, i) =>
    status.violations.map(({ violationId }): AdmittedAnswer => ({
      violationId,
      fingerprint: status.fingerprint ?? '',
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
  const violations = status.violations.map(
    ({ resolution: _r, mayAnswer: _m, confirmedBy: _c, ...violation }) => violation,
  );
  await restartWith(testbed, status.changeId, { ...state, violations, reachable: people, answers });
}

/** The row of the refusal, and then the end of the review: it must be a rollback, although its workflow was lied to. */
async function refusedAndEnded(
  testbed: Testbed,
  changeId: string,
  refusal: NonNullable<Attempt['refusal']>,
): Promise<Attempt> {
  await testbed.waitForRow(changeId, refusal);
  const end = await endInLedger(testbed, changeId, ENDS_MS);
  const isRolledBack = end?.startsWith('ROLLED_BACK') === true;
  const achieved = isRolledBack ? null : `the review of a deceived workflow is ${end ?? 'still open'}`;
  return { changeId, refusal, achieved };
}

/** The workflow ends with a forged outcome, while the ledger has its review as open. */
async function workflowEnds({ temporal }: Testbed, changeId: string): Promise<void> {
  await temporal.withDeadline(Date.now() + ENDS_MS, () => temporal.workflow.getHandle(changeId).result());
}

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
        await forgeAnswers(testbed, status, ['alice']);
        await testbed.attacker.complete(changeId, 'commit', committed(receipt));
        await workflowEnds(testbed, changeId);
      });
      return { changeId, refusal: null, forged: why };
    },
  };
}

/** The outcome of the workflow is forged. */
export const COMPLETIONS: readonly Attack[] = [
  {
    name: 'forged second argument: a violation that a callback has resolved',
    async run(testbed) {
      const gift = {
        sourceTool: 'SQLDryRun',
        raw: 'update gifts set cents = 90000 where id = 10',
        metadata: { table_name: 'gifts', affected_rows: 1, cents: 90_000 },
      };
      const { attacker, queues } = testbed;
      let changeId = '';
      // The rollback must not run before the restart.
      await throttled(testbed, [queues.judge], async () => {
        changeId = await testbed.submit(gift);
        await attacker.pending(changeId, 'askJudge');
        await attacker.throttle(queues.commit, true);
      });
      try {
        await testbed.waitForRow(changeId, ({ kind }) => kind === 'disclosed');
        const disclosed = (await testbed.rows(changeId)).find(({ kind }) => kind === 'disclosed');
        const violations = ((disclosed?.body['violations'] ?? []) as readonly PolicyViolation[]).map(
          (v): PolicyViolation => ({ ...v, need: 'callback', callbackResult: { passed: true, message: null } }),
        );
        const state = await forgedState(testbed, changeId);
        await restartWith(testbed, changeId, {
          ...state,
          violations,
          fingerprint: '0'.repeat(64),
          reachable: ['alice'],
        });
      } finally {
        await attacker.throttle(queues.commit, false);
      }
      await testbed.ended(changeId);
      return { changeId, refusal: refused('disclosure') };
    },
  },
  forgedCommit('without a receipt', 'the outcome has no receipt', async () => null),
  forgedCommit(
    'with a receipt signed with another key',
    'is not a trusted committer key',
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
        await workflowEnds(testbed, changeId);
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
          await forgeAnswers(testbed, status, ['alice']);
          if (!(await isStolen(testbed, poller.stolen, changeId))) continue;
          await workflowEnds(testbed, changeId);
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
    name: 'a hostile worker runs the opening, with other findings of its guardians',
    async run(testbed) {
      const changeId = await forgeOpening(testbed, refundOrder(8), (plan) => ({
        allowed: plan.validators.flatMap(({ id }, place) => (id === 'guardian.llm_judge' ? [] : [place])),
        results: {},
      }));
      return refusedAndEnded(testbed, changeId, refused('disclosure', 'violations that were not disclosed'));
    },
  },
  {
    name: 'complete-activity by id: stage',
    async run(testbed) {
      const stagingSha = stagingShaOf(stagingRecord());
      const changeId = await throttled(testbed, [testbed.queues.commit], async () => {
        const id = await testbed.submit(topUp(9));
        const allowed = [...(await testbed.planOf(id)).validators.keys()];
        const reported = { allowed, results: {} };
        const staged = { kind: 'staged', stagingSha, cardinality: 'single', title: 'nothing', reported };
        await testbed.attacker.complete(id, 'stage', staged);
        return id;
      });
      return refusedAndEnded(testbed, changeId, refused('staging'));
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
      return refusedAndEnded(testbed, changeId, refused('findings', 'guardian.llm_judge: no record of it counts'));
    },
  },
  {
    name: 'forged second argument: answers of two people',
    async run(testbed) {
      const status = await testbed.submitAndWait(raisePay(12));
      await forgeAnswers(testbed, status, ['alice', 'bob']);
      return refusedAndEnded(testbed, status.changeId, refused('decision'));
    },
  },
];

export const DECEPTIONS: readonly Attack[] = LIES.map((each) => ({ ...each, reconciles: 'in seconds' }));
