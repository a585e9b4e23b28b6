/** Answers, retractions and statements in every order, at the same moment, and in the words of others. */
import { setTimeout as pause } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import type { ReviewStatus } from '../../../../policy/contracts/status';
import { canonicalJson } from '../../../../policy/contracts/canonical-json';
import { CLOCK_SKEW_MS } from '../../../../signing/assess-answer';
import { newNonce } from '../../../../signing/nonce';
import type { SigningKey } from '../../../../signing/keys';
import {
  answerRefused,
  NO_COMMIT_AFTER_STOP,
  raisePay,
  refundOrder,
  withoutRow,
  type Attack,
  type Attempt,
} from '../../attack';
import { ENDED, ifRefused } from '../../if-refused';
import type { Testbed } from '../../testbed';
import { ACCEPTED, at, envelope, named, paidOut, send } from './common';

const ROUNDS = 4;
const AFTER_RESTART = [ACCEPTED, ACCEPTED, 'superseded'];

/** An answer of any kind of statement and any decision to the first violation. */
function rawAnswer(status: ReviewStatus, key: SigningKey, decision: string, { kind = 'answer', ...more }: Raw = {}) {
  const { changeId, fingerprint, tenant, target } = status;
  const violationId = status.violations.find(({ need }) => need === 'human')?.violationId ?? '';
  const subject = [
    { name: 'change', digest: { sha256: changeId } },
    { name: 'violation', digest: { sha256: violationId } },
  ];
  const predicate = {
    changeId,
    fingerprint,
    violationId,
    decision,
    reason: 'seen',
    keyId: key.keyId,
    context: { tenant, target, environment: 'development' },
    coverage: null,
    retracts: null,
    nonce: newNonce(),
    issuedAt: at(0),
    expiresAt: at(600_000),
    ...more,
  };
  return envelope(kind, subject, predicate, key);
}

/** Takes back the answer in this envelope. */
const retract = (status: ReviewStatus, key: SigningKey, confirm: readonly unknown[], more: Raw = {}) => {
  const retracts = createHash('sha256')
    .update(canonicalJson(confirm[0] as never))
    .digest('hex');
  return [rawAnswer(status, key, 'retract', { retracts, ...more })];
};

interface Raw {
  readonly retracts?: string;
  readonly kind?: string;
  readonly issuedAt?: string;
  readonly expiresAt?: string;
}

/** A change with a quorum of two: alice confirms and takes it back in one of several orders, with these codes. Then bob confirms. */
function takenBack(
  name: string,
  id: number,
  expected: readonly string[],
  order: (testbed: Testbed, status: ReviewStatus) => Promise<readonly string[]>,
): Attack {
  return named(name, async (testbed) => {
    const status = await testbed.submitAndWait(raisePay(id));
    const codes = await order(testbed, status);
    const last = await send(testbed, status, testbed.sign(status, testbed.keyOf('bob')));
    const committed = await paidOut(testbed, status.changeId);
    const said = `alice: ${codes.join(', ')}; bob: ${last.join(', ')}`;
    if (committed) return withoutRow(status.changeId, '', `committed after alice took her confirmation back (${said})`);
    const asExpected = codes.join() === expected.join() && last.join() === ACCEPTED;
    return withoutRow(status.changeId, `answers of alice: ${expected.join(', ')}`, asExpected ? null : said);
  });
}

/** Two messages at the same moment, several times: never may one that stops a change be accepted and the change be committed. */
function race(
  name: string,
  first: number,
  stop: (testbed: Testbed, status: ReviewStatus, confirm: readonly unknown[]) => Promise<string>,
): Attack {
  return named(name, async (testbed) => {
    let achieved: string | null = null;
    let changeId = '';
    for (let i = 0; i < ROUNDS; i++) {
      const status = await testbed.submitAndWait(raisePay(first + i));
      ({ changeId } = status);
      const given = testbed.sign(status, testbed.keyOf('alice'));
      await send(testbed, status, given);
      const confirm = testbed.sign(status, testbed.keyOf('bob'));
      const [code] = await Promise.all([
        ifRefused(stop(testbed, status, given), ENDED, 'closed'),
        pause(i * 15).then(() => send(testbed, status, confirm)),
      ]);
      if ((await paidOut(testbed, changeId)) && code === ACCEPTED) achieved = `round ${i}: accepted, and committed`;
    }
    await testbed.baseline();
    return withoutRow(changeId, NO_COMMIT_AFTER_STOP, achieved);
  });
}

async function stoppedInTheNameOf(
  testbed: Testbed,
  id: number,
  message: 'withdraw' | 'supersede',
  payload: object,
  refusal: Attempt['refusal'],
): Promise<Attempt> {
  const { changeId } = await testbed.submitAndWait(refundOrder(id));
  const { code } = await testbed.sendUpdate(changeId, message, payload);
  return { changeId, refusal, achieved: code === ACCEPTED ? 'it was accepted' : null };
}

export const ORDERINGS: readonly Attack[] = [
  takenBack('a confirm and a retract of the same instant', 11, [ACCEPTED, ACCEPTED], async (testbed, status) => {
    const issuedAt = at(0);
    const alice = testbed.keyOf('alice');
    const confirm = testbed.sign(status, alice, 'confirm', { issuedAt });
    return [
      ...(await send(testbed, status, confirm)),
      ...(await send(testbed, status, retract(status, alice, confirm, { issuedAt }))),
    ];
  }),
  takenBack(
    'a confirm and a retract of the same instant in one message',
    12,
    [ACCEPTED, ACCEPTED],
    async (testbed, status) => {
      const issuedAt = at(0);
      const alice = testbed.keyOf('alice');
      const confirm = testbed.sign(status, alice, 'confirm', { issuedAt });
      return send(testbed, status, [...confirm, ...retract(status, alice, confirm, { issuedAt })]);
    },
  ),
  takenBack(
    'a confirm of a clock that is ahead, then a retract of a right clock',
    13,
    [ACCEPTED, ACCEPTED],
    async (testbed, status) => {
      const alice = testbed.keyOf('alice');
      const ahead = { issuedAt: at(CLOCK_SKEW_MS / 2), expiresAt: at(900_000) };
      const confirm = testbed.sign(status, alice, 'confirm', ahead);
      return [
        ...(await send(testbed, status, confirm)),
        ...(await send(testbed, status, retract(status, alice, confirm))),
      ];
    },
  ),
  takenBack(
    'a confirm, a retract and the same confirm again after a restart',
    14,
    AFTER_RESTART,
    async (testbed, status) => {
      const alice = testbed.keyOf('alice');
      const confirm = testbed.sign(status, alice);
      const first = await send(testbed, status, confirm);
      await pause(5);
      const second = await send(testbed, status, retract(status, alice, confirm));
      const { submission } = await testbed.submissionOf(status.changeId);
      await testbed.temporal.workflow.getHandle(status.changeId).terminate('maintenance');
      await testbed.startReview(status.changeId, submission);
      await testbed.workflowWaits(status.changeId);
      return [...first, ...second, ...(await send(testbed, status, confirm))];
    },
  ),
  race('a retract while the last confirm arrives', 15, async (testbed, status, confirm) =>
    testbed.update(status.changeId, retract(status, testbed.keyOf('alice'), confirm)).then(([code]) => code ?? ''),
  ),
  race('a withdrawal while the last confirm arrives', 19, async (testbed, status) =>
    testbed.countersign.withdraw(status.changeId, { actor: 'dana', reason: 'no' }).then(({ code }) => code),
  ),
  race('a reject while the last confirm arrives', 23, async (testbed, status) => {
    const reject = testbed.sign(status, testbed.keyOf('alice'), 'reject');
    return (await testbed.update(status.changeId, reject))[0] ?? '';
  }),
  named('a reject and a confirm in one message', async (testbed) => {
    const status = await testbed.submitAndWait(refundOrder(20));
    const answers = [
      ...testbed.sign(status, testbed.keyOf('bob'), 'reject'),
      ...testbed.sign(status, testbed.keyOf('alice')),
    ];
    await send(testbed, status, answers.reverse());
    const rows = async (): Promise<boolean> =>
      (await testbed.rows(status.changeId)).some(
        ({ kind, body }) => kind === 'answer_accepted' && JSON.stringify(body).includes('reject'),
      );
    const committed = await paidOut(testbed, status.changeId);
    const achieved = committed || !(await rows()) ? `committed: ${committed}, the reject must be accepted` : null;
    return withoutRow(status.changeId, 'the reject of the same message', achieved);
  }),
  named('the words of an answer in a statement of another kind', async (testbed) => {
    const status = await testbed.submitAndWait(refundOrder(24));
    const alice = testbed.keyOf('alice');
    for (const kind of [
      'submission',
      'effect-resolution',
      'target-freeze',
      'breaker-reset',
      'receipt',
      'Answer',
      'answer/v1#',
    ])
      await send(testbed, status, [rawAnswer(status, alice, 'confirm', { kind })]);
    // Control: the same envelope with the right kind is an answer.
    const other = await testbed.submitAndWait(refundOrder(10));
    const [code] = await send(testbed, other, [rawAnswer(other, alice, 'confirm')]);
    if (code !== ACCEPTED || !(await paidOut(testbed, other.changeId, 60_000)))
      throw new Error(`The control gives ${code}`);
    await testbed.target(`update orders set status = 'paid' where id = 10`);
    await testbed.baseline();
    const achieved = (await paidOut(testbed, status.changeId, 1_000)) ? 'committed' : null;
    const refusal = answerRefused('malformed', 'expected predicateType https://countersign.dev/answer/v1');
    return { changeId: status.changeId, refusal, achieved };
  }),
  named('a withdrawal in the name of an approver, without a signature', (testbed) =>
    stoppedInTheNameOf(
      testbed,
      25,
      'withdraw',
      { actor: 'alice', reason: 'I do not approve this' },
      answerRefused('malformed', 'withdraw: expected {"statement": a signed envelope}'),
    ),
  ),
  named('superseded by a change that does not exist', (testbed) =>
    stoppedInTheNameOf(testbed, 26, 'supersede', { by: 'a'.repeat(64) }, answerRefused('not_eligible')),
  ),
];
