/** Withdrawals, superseding changes and retracted confirmations that their claimed author did not sign, or that come too late. */
import { setTimeout as pause } from 'node:timers/promises';
import { createSigner } from '../../../client/signer';
import { signSubmission } from '../../../client/submission';
import { MESSAGES } from '../../../policy/contracts/messages';
import type { ReviewStatus } from '../../../policy/contracts/status';
import { messageDigest } from '../../../policy/evidence/dsse';
import type { PredicateOf } from '../../../policy/evidence/statement';
import { signPredicate } from '../../../signing/envelope';
import { newKeyPair, type SigningKey } from '../../../signing/keys';
import { newNonce } from '../../../signing/nonce';
import {
  answerRefused,
  NO_COMMIT_AFTER_STOP,
  raisePay,
  refundOrder,
  refused,
  withoutRow,
  type Attack,
} from '../attack';
import { ENDED, ifRefused } from '../if-refused';
import type { Change, Testbed } from '../testbed';
import { throttled } from '../throttled';

/** A signed withdrawal; `more` replaces members. */
function withdrawal(changeId: string, key: SigningKey, more: Partial<PredicateOf<'withdraw'>> = {}) {
  const at = new Date().toISOString();
  const members = { changeId, keyId: key.keyId, actor: 'dana', reason: 'not needed', nonce: newNonce(), issuedAt: at };
  return { statement: signPredicate('withdraw', { ...members, ...more }, key) };
}

/** Sends a withdrawal that must be refused with `code`, while the review stays open. */
function refusedWithdrawal(
  name: string,
  code: string,
  make: (testbed: Testbed, changeId: string) => unknown,
  message: 'withdraw' | 'supersede' = 'withdraw',
): Attack {
  return {
    name: `statement: ${name}`,
    async run(testbed) {
      const { changeId } = await testbed.submitAndWait(refundOrder(8));
      await testbed.sendUpdate(changeId, message, await make(testbed, changeId));
      return { changeId, refusal: answerRefused(code), achieved: await ended(testbed, changeId) };
    },
  };
}

/** Opens a change that claims to supersede one which is opened after it. A claim on an opened change is refused with the submission. */
function refusedReplacement(name: string, open: (testbed: Testbed, superseded: string) => Promise<string>): Attack {
  return {
    name: `statement: a superseding change ${name}`,
    async run(testbed) {
      const first = await testbed.prepared(refundOrder(8));
      const { changeId } = first;
      const by = await open(testbed, changeId);
      await opened(testbed, by);
      await testbed.startReview(changeId, signSubmission(first, createSigner(testbed.keyOf('agent')), new Date()));
      await testbed.waiting(changeId);
      await testbed.sendUpdate(changeId, 'supersede', { by });
      return { changeId, refusal: answerRefused('not_eligible'), achieved: await ended(testbed, changeId) };
    },
  };
}

/** Starts the review of a change that `key` signed, with members that were changed after signing. */
async function startSigned(testbed: Testbed, change: Change, key: SigningKey, later: object = {}): Promise<string> {
  const prepared = await testbed.prepared(change);
  const signed = signSubmission(prepared, createSigner(key), new Date());
  await testbed.startReview(prepared.changeId, { ...signed, ...later });
  return prepared.changeId;
}

/** Alice confirms a change that needs two people. Returns her answer, and the status before it. */
async function confirmedByAlice(testbed: Testbed, id: number) {
  const status = await testbed.submitAndWait(raisePay(id));
  const [confirm] = testbed.sign(status, testbed.keyOf('alice'), 'confirm', signedAt(-30_000));
  if (confirm === undefined) throw new Error('Expected a violation');
  await testbed.update(status.changeId, [confirm]);
  return { status, confirm };
}
const signedAt = (ms: number) => ({ issuedAt: new Date(Date.now() + ms).toISOString() });

function retraction(testbed: Testbed, status: ReviewStatus, by: 'alice' | 'bob', confirm: unknown) {
  return testbed.sign(status, testbed.keyOf(by), 'retract', { retracts: messageDigest(confirm) });
}

export const STATEMENTS: readonly Attack[] = [
  refusedWithdrawal('an unsigned withdrawal', 'malformed', () => ({ actor: 'dana', reason: 'not needed' })),
  refusedWithdrawal('a withdrawal signed with an unregistered key', 'unknown_key', (_testbed, id) =>
    withdrawal(id, newKeyPair()),
  ),
  refusedWithdrawal(
    'a withdrawal under the key id of the requester, signed with another key',
    'bad_signature',
    (t, id) => {
      const { keyId } = t.keyOf('agent');
      const { statement } = withdrawal(id, { ...newKeyPair(), keyId });
      return {
        statement: { ...statement, signatures: statement.signatures.map(({ sig }) => ({ keyid: keyId, sig })) },
      };
    },
  ),
  refusedWithdrawal(
    'a withdrawal signed with the service key of another agent',
    'not_eligible',
    async (testbed, id) => {
      const subject = { type: 'agent', id: 'other' } as const;
      return withdrawal(id, await testbed.operator.addKey({ kind: 'service', subject, onBehalfOf: 'eve' }));
    },
  ),
  refusedWithdrawal('a withdrawal by a person outside the groups of the plan', 'not_eligible', async (testbed, id) => {
    const subject = { type: 'person', id: 'mallory' } as const;
    return withdrawal(id, await testbed.operator.addKey({ kind: 'approver', subject }));
  }),
  refusedWithdrawal('a genuine withdrawal of another change', 'wrong_context', async (testbed) => {
    const { changeId } = await testbed.submitAndWait(refundOrder(9));
    const message = withdrawal(changeId, testbed.keyOf('agent'));
    await testbed.sendUpdate(changeId, 'withdraw', message);
    return message;
  }),
  refusedWithdrawal('a withdrawal with a nonce that was spent', 'nonce_reused', async (testbed, id) => {
    const other = await testbed.submitAndWait(refundOrder(9));
    const nonce = newNonce();
    await testbed.sendUpdate(other.changeId, 'withdraw', withdrawal(other.changeId, testbed.keyOf('agent'), { nonce }));
    return withdrawal(id, testbed.keyOf('agent'), { nonce });
  }),
  refusedWithdrawal(
    'an unsigned message that another change supersedes this one',
    'not_eligible',
    () => ({ by: 'ab'.repeat(32) }),
    'supersede',
  ),
  refusedReplacement('of another requester', async (testbed, supersedes) => {
    const subject = { type: 'agent', id: 'other' } as const;
    const key = await testbed.operator.addKey({ kind: 'service', subject, onBehalfOf: 'eve' });
    return startSigned(testbed, { ...refundOrder(10), supersedes }, key);
  }),
  refusedReplacement('without a signature', async (testbed, supersedes) => {
    const { changeId, submission } = await testbed.prepared({ ...refundOrder(10), supersedes });
    await testbed.startReview(changeId, submission);
    return changeId;
  }),
  refusedReplacement('for another target', (testbed, supersedes) =>
    testbed.submit({ ...refundOrder(10), target: 'shop2', supersedes }),
  ),
  refusedReplacement('of another source tool', (testbed, supersedes) => {
    const raw = JSON.stringify({ orderId: 8, amountCents: 100, why: 'damaged' });
    return testbed.submit({ sourceTool: 'ShopRefund', raw, supersedes });
  }),
  refusedReplacement('whose submission was edited after it was signed', (testbed, supersedes) =>
    startSigned(testbed, refundOrder(10), testbed.keyOf('agent'), { supersedes }),
  ),
  {
    name: 'statement: a change that is restarted after its withdrawal was acknowledged',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(11));
      const { changeId } = status;
      const { submission } = await testbed.submissionOf(changeId);
      await throttled(testbed, [testbed.queues.commit], async () => {
        await acknowledged(testbed, changeId);
        await testbed.temporal.workflow.getHandle(changeId).terminate('maintenance');
      });
      await testbed.scheduleAdmission(status, testbed.sign(status, testbed.keyOf('alice')));
      await testbed.scheduleCommit(status);
      await testbed.startReview(changeId, submission);
      return { changeId, refusal: refused('withdrawal'), achieved: await notWithdrawn(testbed, changeId) };
    },
  },
  {
    name: 'statement: a change that is reset to its start after its withdrawal was acknowledged',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(12));
      const { changeId } = status;
      await throttled(testbed, [testbed.queues.commit], async () => {
        await acknowledged(testbed, changeId);
        await testbed.attacker.resetToStart(changeId);
      });
      await testbed.scheduleCommit(status);
      return withoutRow(changeId, 'the withdrawal in the ledger', await notWithdrawn(testbed, changeId));
    },
  },
  {
    name: 'statement: a withdrawal that races the commit, thirty times',
    async run(testbed) {
      const lost: string[] = [];
      let last = '';
      for (let i = 1; i <= 30; i++) {
        const status = await testbed.submitAndWait(refundOrder(i));
        last = status.changeId;
        const [, said] = await Promise.all([
          testbed.update(last, testbed.sign(status, testbed.keyOf('alice'))),
          ifRefused(
            pause(i * 4).then(() => testbed.sendUpdate(last, 'withdraw', withdrawal(last, testbed.keyOf('agent')))),
            ENDED,
            { code: 'closed' },
          ),
        ]);
        const { state } = await testbed.ended(last);
        if ((said.code === 'accepted') !== (state === 'ROLLED_BACK')) lost.push(`${said.code}, but ${state}`);
      }
      // Those that were not withdrawn in time committed, as they should.
      await testbed.baseline();
      return withoutRow(last, NO_COMMIT_AFTER_STOP, lost[0] ?? null);
    },
  },
  {
    name: 'statement: a reject that is admitted while the attacker schedules commits, twenty times',
    async run(testbed) {
      const lost: string[] = [];
      let last = '';
      for (let i = 1; i <= 20; i++) {
        const status = await testbed.submitAndWait({
          ...refundOrder(i),
          // A reject also counts for the same change under another request key, in later attacks.
          raw: `update orders set status = 'returned' where id = ${i}`,
        });
        last = status.changeId;
        // The workflow does not receive the answers, so it does not commit or roll back.
        await testbed.scheduleAdmission(status, testbed.sign(status, testbed.keyOf('alice')));
        const reject = testbed.sign(status, testbed.keyOf('bob'), 'reject');
        await Promise.all([testbed.scheduleCommit(status), testbed.scheduleAdmission(status, reject)]);
        const rows = await testbed.rows(last);
        const rejected = rows.some(({ kind, body }) => kind === 'answer_accepted' && body['decision'] === 'reject');
        const committed = rows.some(({ kind, body }) => kind === 'closed' && body['state'] === 'COMMITTED');
        if (rejected && committed) lost.push('committed after a reject was accepted');
        if (committed) continue;
        // A terminated workflow would be one of the many that are gone at once, which delays the repair of later attacks.
        await testbed.temporal.workflow.getHandle(last).signal(MESSAGES.lookAgain);
        await testbed.ended(last);
      }
      await testbed.baseline();
      return withoutRow(last, NO_COMMIT_AFTER_STOP, lost[0] ?? null);
    },
  },
  {
    name: 'statement: a retraction after the commit has begun',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(13));
      const { changeId } = status;
      const [confirm] = testbed.sign(status, testbed.keyOf('alice'), 'confirm', signedAt(-30_000));
      await testbed.update(changeId, [confirm]);
      await testbed.receiptOf(changeId);
      await testbed.scheduleAdmission(status, retraction(testbed, status, 'alice', confirm));
      const isRetracted = (await testbed.rows(changeId)).some(({ kind }) => kind === 'retracted');
      const achieved = isRetracted ? 'it was recorded as accepted' : null;
      return { changeId, refusal: answerRefused('closed'), achieved };
    },
  },
  {
    name: 'statement: a commit although the confirmation was retracted while the commit waited',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(14));
      const { changeId } = status;
      const [confirm] = testbed.sign(status, testbed.keyOf('alice'), 'confirm', signedAt(-30_000));
      await throttled(testbed, [testbed.queues.commit], async () => {
        await testbed.update(changeId, [confirm]);
        const codes = await testbed.update(changeId, retraction(testbed, status, 'alice', confirm));
        if (codes[0] !== 'accepted') throw new Error(`The retraction was not accepted: ${codes.join()}`);
      });
      await testbed.waitForRow(changeId, refused('decision'));
      return { changeId, refusal: refused('decision'), achieved: await ended(testbed, changeId) };
    },
  },
  {
    name: 'statement: a confirmation that is replayed after its signer retracted it',
    async run(testbed) {
      const { status, confirm } = await confirmedByAlice(testbed, 3);
      const { changeId } = status;
      await testbed.update(changeId, retraction(testbed, status, 'alice', confirm));
      await testbed.update(changeId, [confirm]);
      await testbed.update(changeId, testbed.sign(status, testbed.keyOf('alice'), 'confirm', signedAt(-20_000)));
      await testbed.update(changeId, testbed.sign(status, testbed.keyOf('bob')));
      await testbed.scheduleCommit(status);
      return { changeId, refusal: answerRefused('superseded'), achieved: await ended(testbed, changeId) };
    },
  },
  {
    name: 'statement: an older confirmation that is replayed after its signer rejected',
    async run(testbed) {
      const status = await testbed.submitAndWait(raisePay(4));
      const { changeId } = status;
      const older = testbed.sign(status, testbed.keyOf('alice'), 'confirm', signedAt(-30_000));
      // The workflow does not receive the reject.
      await testbed.scheduleAdmission(status, testbed.sign(status, testbed.keyOf('alice'), 'reject'));
      await testbed.update(changeId, older);
      await testbed.update(changeId, testbed.sign(status, testbed.keyOf('bob')));
      await testbed.scheduleCommit(status);
      return { changeId, refusal: answerRefused('contradicts') };
    },
  },
  {
    name: 'statement: a retraction of the confirmation of another person',
    async run(testbed) {
      const { status, confirm } = await confirmedByAlice(testbed, 5);
      const { changeId } = status;
      await testbed.update(changeId, retraction(testbed, status, 'bob', confirm));
      const { violations } = await testbed.waiting(changeId);
      const isKept = violations.some(({ confirmedBy }) => confirmedBy.includes('alice'));
      const achieved = isKept ? null : 'the confirmation is gone';
      return { changeId, refusal: answerRefused('nothing_to_retract'), achieved };
    },
  },
];

/** Waits until the change is opened, or its workflow has failed because it cannot be opened. */
async function opened(testbed: Testbed, changeId: string): Promise<void> {
  const failed = ifRefused(testbed.temporal.workflow.getHandle(changeId).result(), ['WorkflowFailedError'], null);
  await Promise.race([testbed.waitForRow(changeId, ({ kind }) => kind === 'submitted'), failed]);
}

/** Null if the review still waits for answers. */
async function ended(testbed: Testbed, changeId: string): Promise<string | null> {
  await pause(1_000);
  const result = await testbed.countersign.result(changeId);
  return result.state === 'PENDING' ? null : `the review ended as ${result.state}`;
}

/** The requester withdraws, and the review acknowledges it. */
async function acknowledged(testbed: Testbed, changeId: string): Promise<void> {
  const { code } = await testbed.sendUpdate(changeId, 'withdraw', withdrawal(changeId, testbed.keyOf('agent')));
  if (code !== 'accepted') throw new Error(`The withdrawal was not accepted: ${code}`);
}

/** Null if the review ends as withdrawn. */
async function notWithdrawn(testbed: Testbed, changeId: string): Promise<string | null> {
  const result = await testbed.ended(changeId);
  const reason = result.state === 'ABORTED' ? result.why : result.outcome.reason;
  return result.state === 'ROLLED_BACK' && reason === 'withdrawn'
    ? null
    : `the review ended as ${result.state}: ${reason}`;
}
