/**
 * Attacks on liveness: messages and starts that stop a review or a worker, and workflows that disappear while their review is
 * open. An attack is withstood if the approver's answer still counts, honest reviews end in time, and every attacked review has
 * a terminal state in the ledger.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client as PgClient } from 'pg';
import { openedClient } from '../../../dev/query';
import { committed, endInLedger, refundOrder, topUp, withoutRow, type Attack, type Attempt } from '../attack';
import { throttled } from '../throttled';
import { ENDED, ifRefused, TOO_MUCH } from '../if-refused';
import { failNextActivity, nestedFailure, signalUndecodable, startWithFailure } from '../poison';
import type { Testbed } from '../testbed';

/** Within this time an honest review must end, and an approver's answer must be accepted. */
const HONEST_MS = 60_000;
/** Within this time the ledger must have a terminal state for a review whose workflow was taken away. */
const REPAIRED_MS = 60_000;
/** The server accepts at most this much in one request, less its envelope. */
const ALMOST_2_MIB = 2 * 1024 * 1024 - 800;
const DEPTH = 96;

/** An attack that left a review without an end, if the reconciler did not give it one. */
const repaired = (changeId: string, achieved: string | null): Attempt =>
  withoutRow(changeId, 'the reconciler: every review has an end in the ledger', achieved);

/** Null if an honest change commits in time. */
async function honestReviewEnds(testbed: Testbed, id: number): Promise<string | null> {
  const began = Date.now();
  try {
    const result = await testbed.ended(await testbed.submit(topUp(id)));
    await testbed.baseline();
    if (result.state !== 'COMMITTED') return `an honest review is ${result.state}`;
  } catch (error) {
    return `an honest review did not end: ${String(error).slice(0, 100)}`;
  }
  const took = Date.now() - began;
  return took <= HONEST_MS ? null : `an honest review took ${took} ms`;
}

/** Null if alice's answer is accepted and the change then commits. */
async function approverCanAnswer(testbed: Testbed, status: Awaited<ReturnType<Testbed['submitAndWait']>>) {
  const { changeId } = status;
  const answers = testbed.sign(status, testbed.keyOf('alice'));
  let last = '';
  for (const until = Date.now() + HONEST_MS; Date.now() < until; await pause(500)) {
    try {
      const codes = await Promise.race([
        testbed.update(changeId, answers),
        pause(10_000).then((): string[] => {
          throw new Error('no reply to the update in 10 s');
        }),
      ]);
      if (codes.every((code) => code === 'accepted' || code === 'duplicate')) {
        const end = await endInLedger(testbed, changeId, HONEST_MS);
        await testbed.baseline();
        return end === 'COMMITTED' ? null : `the confirmed change is ${end ?? 'still open'}`;
      }
      last = codes.join();
    } catch (error) {
      last = error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error);
    }
  }
  return `the approver's answer was not accepted: ${last.slice(0, 200)}`;
}

/** Null if the review ends in the ledger in time as one of `ends`. */
async function endsAs(testbed: Testbed, changeId: string, ...ends: readonly string[]): Promise<string | null> {
  const end = await endInLedger(testbed, changeId, REPAIRED_MS);
  if (end === null) return `the review is still open in the ledger after ${REPAIRED_MS / 1000} s`;
  return ends.includes(end) ? null : `the review ended as ${end}`;
}

/** `stale_base`: an earlier try of the attack, which lost its race, changed the row. */
const ENDS = ['COMMITTED', 'ROLLED_BACK workflow_lost', 'ROLLED_BACK stale_base'];

const junkOf = (bytes: number) => [{ payloadType: 'x', payload: 'A'.repeat(bytes), signatures: [] }];

/** Sends `count` messages, `atOnce` at a time. The server or the review may refuse some. */
async function flood(count: number, atOnce: number, send: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < count) await ifRefused(send(next++), [...ENDED, ...TOO_MUCH], null);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

function floodAttack(name: string, order: number, send: (testbed: Testbed, changeId: string) => Promise<void>): Attack {
  return {
    name: `liveness: ${name}, then an approver's answer`,
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(order));
      await send(testbed, status.changeId);
      const by = 'the answer of the approver counts, and the change commits';
      return withoutRow(status.changeId, by, await approverCanAnswer(testbed, status));
    },
  };
}

function takenAway(name: string, order: number, take: (testbed: Testbed, changeId: string) => Promise<void>): Attack {
  return {
    name: `liveness: ${name} of an open review`,
    async run(testbed) {
      const { changeId } = await testbed.submitAndWait(refundOrder(order));
      await take(testbed, changeId);
      const end = await endsAs(testbed, changeId, 'ROLLED_BACK workflow_lost');
      await ifRefused(testbed.temporal.workflow.getHandle(changeId).terminate('done'), ENDED, null);
      return repaired(changeId, end);
    },
  };
}

const ATTACKS: readonly Omit<Attack, 'reconciles'>[] = [
  {
    name: 'liveness: an activity of an open review fails by its id, nested 96 deep',
    async run(testbed) {
      // An activity can be failed only while it runs: without our judge worker the attacker's poll gets it.
      await testbed.dev.processes.judge.stop();
      let changeId: string;
      try {
        changeId = await testbed.submit(topUp(3));
        const failure = { ...nestedFailure(DEPTH), applicationFailureInfo: { nonRetryable: true } };
        await failNextActivity(testbed.attacker, testbed.queues.judge, failure);
      } finally {
        await testbed.dev.restart('judge');
      }
      const end = await endsAs(testbed, changeId, 'COMMITTED', 'ROLLED_BACK declined', 'ROLLED_BACK workflow_lost');
      await testbed.baseline();
      return repaired(changeId, end);
    },
  },
  {
    name: 'liveness: a signal that no worker can decode',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(26));
      const { changeId } = status;
      await signalUndecodable(testbed.attacker, testbed.dev.runtime.temporalAddress, changeId);
      const problem = await approverCanAnswer(testbed, status);
      if (problem === null) return repaired(changeId, null);
      return repaired(changeId, await endsAs(testbed, changeId, 'COMMITTED', 'ROLLED_BACK workflow_lost'));
    },
  },
  floodAttack('an answer by signal of almost 2 MiB', 1, async (testbed, changeId) => {
    await ifRefused(testbed.signal(changeId, junkOf(ALMOST_2_MIB)), TOO_MUCH, null);
    await pause(2_000);
  }),
  floodAttack('an answer by signal nested 100,000 deep', 24, async (testbed, changeId) => {
    await testbed.attacker.signalText(changeId, 'answer', '['.repeat(100_000) + ']'.repeat(100_000));
    await pause(1_000);
  }),
  floodAttack('26 answers by update of almost 2 MiB', 2, (testbed, changeId) =>
    flood(26, 1, () => withDeadline(testbed.update(changeId, junkOf(ALMOST_2_MIB)))),
  ),
  floodAttack('26 answers by signal of almost 2 MiB', 3, (testbed, changeId) =>
    flood(26, 1, () => testbed.signal(changeId, junkOf(ALMOST_2_MIB))),
  ),
  floodAttack('60 answers by signal of almost 1 MiB', 25, (testbed, changeId) =>
    flood(60, 4, () => testbed.signal(changeId, junkOf(1024 * 1024 - 800))),
  ),
  floodAttack('2,000 small answers by update', 16, (testbed, changeId) =>
    flood(2_000, 10, (i) => withDeadline(testbed.update(changeId, [{ nonsense: i }]))),
  ),
  floodAttack('2,100 updates `submit`', 17, (testbed, changeId) =>
    flood(2_100, 10, () => withDeadline(testbed.temporal.workflow.getHandle(changeId).executeUpdate('submit'))),
  ),
  floodAttack('5,000 answers by signal', 18, (testbed, changeId) =>
    flood(5_000, 20, (i) => testbed.signal(changeId, [{ nonsense: i }])),
  ),
  takenAway('termination', 19, async (testbed, changeId) => {
    await testbed.temporal.workflow.getHandle(changeId).terminate('maintenance');
  }),
  takenAway('deletion', 20, async (testbed, changeId) => {
    const { workflowService: api } = testbed.attacker.connection;
    await api.deleteWorkflowExecution({
      namespace: testbed.attacker.namespace,
      workflowExecution: { workflowId: changeId },
    });
  }),
  takenAway('termination, and a workflow of another type with its id,', 21, async (testbed, changeId) => {
    await testbed.temporal.workflow.getHandle(changeId).terminate('maintenance');
    await testbed.temporal.workflow.start('mallory', {
      taskQueue: `mallory-${process.pid}-idle`,
      workflowId: changeId,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
  }),
  takenAway('termination, and a workflow on our queue that fails its task for ever,', 22, async (testbed, changeId) => {
    await testbed.temporal.workflow.getHandle(changeId).terminate('maintenance');
    await testbed.temporal.workflow.start('no_such_type', {
      taskQueue: testbed.queues.review,
      workflowId: changeId,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
  }),
  {
    name: 'liveness: complete-activity by id with a result that makes the workflow task fail for ever',
    async run(testbed) {
      await testbed.attacker.throttle(testbed.queues.judge, true);
      const changeId = await testbed.submit(topUp(4));
      await testbed.attacker.pending(changeId, 'askJudge');
      await testbed.attacker.throttle(testbed.queues.commit, true);
      try {
        await testbed.attacker.throttle(testbed.queues.judge, false);
        await testbed.attacker.complete(changeId, 'commit', null);
      } finally {
        await testbed.attacker.throttle(testbed.queues.commit, false);
      }
      const end = await endsAs(testbed, changeId, ...ENDS);
      await testbed.baseline();
      return repaired(changeId, end);
    },
  },
  {
    name: 'liveness: complete-activity by id: rollback, so that the workflow completes while the review is open in the ledger',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(23));
      const { changeId } = status;
      await throttled(testbed, [testbed.queues.commit], async () => {
        await testbed.update(changeId, testbed.sign(status, testbed.keyOf('alice'), 'reject'));
        await testbed.attacker.complete(changeId, 'rollback', committed(null));
      });
      return repaired(changeId, await endsAs(testbed, changeId, 'ROLLED_BACK workflow_lost'));
    },
  },
  {
    name: 'liveness: termination between intent and effect',
    async run(testbed) {
      // The commit waits for this lock after it has written its intent.
      const lock = await openedClient(testbed.dev.setup.targetAdminUrls['shop'] ?? '');
      try {
        const { changeId, before } = await interruptedCommit(testbed, lock);
        const end = await endInLedger(testbed, changeId, REPAIRED_MS);
        // A late attempt of the first commit would have ended by now.
        await pause(3_000);
        const applied = (await balance(testbed, 5)) - before;
        await testbed.baseline();
        if (end === null) return repaired(changeId, 'the review is still open in the ledger');
        const isOnce = (end === 'COMMITTED') === (applied === 1) && applied <= 1;
        return repaired(changeId, isOnce ? null : `${end}, applied ${applied} times`);
      } finally {
        await lock.end();
      }
    },
  },
  {
    name: 'liveness: a workflow of our type starts with a failure nested 96 deep',
    async run(testbed) {
      const id = `poison-${process.pid}`;
      await startWithFailure(testbed.attacker, id, nestedFailure(DEPTH));
      for (const until = Date.now() + REPAIRED_MS; Date.now() < until; await pause(500)) {
        const { status } = await testbed.temporal.workflow.getHandle(id).describe();
        if (status.name !== 'RUNNING') return repaired(id, null);
      }
      return repaired(id, 'its workflow task fails for ever');
    },
  },
  {
    name: 'liveness: 60 workflows of our type start with a failure nested 96 deep',
    async run(testbed) {
      const ids = Array.from({ length: 60 }, (_, i) => `poisons-${process.pid}-${i}`);
      for (const id of ids) await startWithFailure(testbed.attacker, id, nestedFailure(DEPTH));
      await pause(3_000);
      return withoutRow(ids[0] ?? '', 'an honest review ends in time', await honestReviewEnds(testbed, 2));
    },
  },
];

export const LIVENESS: readonly Attack[] = ATTACKS.map((each) => ({ ...each, reconciles: 'in seconds' }));

/** Returns when the workflow was terminated while its commit waits for a lock of ours. Releases the lock. */
async function interruptedCommit(
  testbed: Testbed,
  lock: PgClient,
): Promise<{ readonly changeId: string; readonly before: number }> {
  let before = 0;
  const changeId = await throttled(testbed, [testbed.queues.judge], async () => {
    const id = await testbed.submit(topUp(5));
    await testbed.attacker.pending(id, 'askJudge');
    await lock.query('begin');
    // Read with the lock: an earlier try that lost its race may commit until then.
    const { rows } = await lock.query<{ balance: string }>('select balance from accounts where id = 5 for update');
    before = Number(rows[0]?.balance);
    return id;
  });
  if ((await testbed.waitForRow(changeId, ({ kind }) => kind === 'intent')) === null)
    throw new Error('The commit wrote no intent');
  await testbed.temporal.workflow.getHandle(changeId).terminate('maintenance');
  await pause(1_000);
  await lock.query('rollback');
  await testbed.baseline();
  return { changeId, before };
}

async function balance(testbed: Testbed, id: number): Promise<number> {
  const [row] = await testbed.target('select balance from accounts where id = $1', [id]);
  return Number(row?.['balance']);
}

function withDeadline<T>(work: Promise<T>): Promise<T | undefined> {
  return Promise.race([work, pause(20_000).then(() => undefined)]);
}
