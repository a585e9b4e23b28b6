/** Attacks on what the ledger counts and remembers: refusals, limits over many changes, earlier rejects, stored bytes. */
import { canonicalJson, type JsonObject } from '../../../policy/contracts/canonical-json';
import { appendAs } from '../append-as';
import { ifRefused } from '../if-refused';
import {
  answerRefused,
  heldBy,
  raisePay,
  refundOrder,
  refused,
  topUp,
  unsignedAnswers,
  withoutRow,
  type Attack,
  type Attempt,
} from '../attack';
import { query } from '../../../dev/query';
import type { Change, Testbed } from '../testbed';

const TIMES = 40;
export const FACTS: readonly Attack[] = [
  {
    name: 'forty different forged answers under one activity id',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(10));
      const { changeId } = status;
      const [forged] = unsignedAnswers(status);
      const tries = Array.from({ length: TIMES }, (_, i) => ({ ...forged, reason: `try ${i}` }));
      const inputs = tries.map((answer) => testbed.admission(status, [answer]));
      await testbed.attacker.scheduleUnderOneId('admitAnswer', testbed.queues.review, inputs);
      const achieved = await uncounted(testbed, changeId, 'answer_refused', TIMES);
      return { changeId, refusal: answerRefused('unsigned_not_accepted'), achieved };
    },
  },
  {
    name: 'the same forged answer forty times',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(11));
      const { changeId } = status;
      const [answer] = testbed.sign(status, testbed.keyOf('agent'));
      const inputs = Array.from({ length: TIMES }, () => testbed.admission(status, [answer]));
      await testbed.attacker.scheduleUnderOneId('admitAnswer', testbed.queues.review, inputs);
      const refusal = answerRefused('not_eligible', 'is registered as service');
      return { changeId, refusal, achieved: await uncounted(testbed, changeId, 'answer_refused', TIMES) };
    },
  },
  {
    name: 'twenty forged commits of one change',
    async run(testbed) {
      const { changeId, planHash, stagingSha } = await testbed.submitAndWait(refundOrder(12));
      const inputs = Array.from({ length: 20 }, (_, i) => ({
        changeId,
        planHash,
        stagingSha,
        fingerprint: i.toString(16).padStart(64, '0'),
      }));
      await testbed.attacker.scheduleUnderOneId('commit', testbed.queues.commit, inputs);
      const refusal = refused('disclosure', 'another fingerprint than was disclosed');
      return { changeId, refusal, achieved: await uncounted(testbed, changeId, 'refused', 20) };
    },
  },
  {
    name: 'a refusal that the gateway’s role writes before the committer',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(13));
      const { changeId } = status;
      for (const fact of ['refused:decision', 'decision'])
        await append(testbed, changeId, fact, { check: 'decision', explanation: 'all is well' });
      await testbed.scheduleCommit(status);
      const refusal = refused('decision', '1 violations lack a valid answer');
      return { changeId, refusal, achieved: await wrongWriters(testbed, changeId) };
    },
  },
  {
    name: 'a hundred refusals of the gateway’s role, so that those of the review worker have no rows',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(14));
      const { changeId } = status;
      for (let i = 0; i < 101; i++) await append(testbed, changeId, `${i}`, { code: 'x' }, 'answer_refused');
      await testbed.update(changeId, testbed.sign(status, testbed.keyOf('agent')));
      return { changeId, refusal: answerRefused('not_eligible', 'is registered as service') };
    },
  },
  {
    name: 'an unsigned opening that fills the limit of every agent',
    async run(testbed) {
      const many = Array.from({ length: 30 }, (_, i) => `delete from orders where id = ${1000 + i}`).join(';\n');
      const changeId = await testbed.submitUnsigned({ ...refundOrder(1), raw: many });
      await testbed.waiting(changeId);
      await testbed.target(`insert into accounts values (901, 'owner', 1)`);
      const result = await endedOrHeld(testbed, {
        ...topUp(901),
        raw: 'delete from accounts where id = 901',
      });
      await testbed.baseline();
      const achieved = result === 'COMMITTED' ? null : `the change of an honest agent is ${result}`;
      return withoutRow(changeId, 'the limit of an honest agent: its change commits', achieved);
    },
  },
  {
    name: 'a delete of many rows that a limit counts as one',
    async run(testbed) {
      await testbed.target(`insert into accounts select i, 'owner', 1 from generate_series(911, 930) i`);
      await testbed.baseline();
      const changeId = await testbed.submit({
        sourceTool: 'SQLDryRun',
        raw: 'delete from accounts where id between 911 and 930',
        metadata: { table_name: 'accounts', affected_rows: 20 },
      });
      const held = await heldBy(testbed, changeId);
      const achieved = held.includes('guardian.deletes') ? null : `the limit does not hold it: ${held.join()}`;
      return withoutRow(changeId, 'guardian.deletes', achieved);
    },
  },
  {
    name: 'bytes that the gateway’s role plants under the digest of another diff',
    async run(testbed) {
      const { submission, bytes, changeId } = testbed.unsent(topUp(15));
      const planted = query(
        testbed.dev.setup.databaseUrls.cs_gateway,
        'insert into blobs (tenant, digest, size, bytes) values ($1, $2, 3, $3)',
        ['default', submission.diffSha, Buffer.from('xyz')],
      );
      const taken = (await ifRefused(planted, ['digest_of_bytes'], null)) !== null;
      await testbed.client.store.put('default', bytes);
      await testbed.startReview(changeId, submission);
      const { state } = await testbed.ended(changeId);
      await testbed.baseline();
      const achieved =
        !taken && state === 'COMMITTED' ? null : `bytes taken: ${taken}, the change of an honest agent is ${state}`;
      return withoutRow(changeId, 'database: digest_of_bytes', achieved);
    },
  },
  {
    name: 'a rejected change whose row in the list the review worker’s role rewrites',
    async run(testbed) {
      const change = raisePay(16);
      const { changeId } = await testbed.submitRejected(change);
      const patch = {
        inputSha: 'f'.repeat(64),
        closedAt: new Date().toISOString(),
        updatedAt: new Date().toISOString(),
      };
      // The database takes the call and sets nothing that identifies the review.
      await query(
        testbed.dev.setup.databaseUrls.cs_review,
        `select * from ledger_append($1, '{}', '{}', '{}', '{}', '{}', '{}', $2)`,
        [changeId, JSON.stringify(patch)],
      );
      return remembered(testbed, { ...change, requestKey: 'rewritten' });
    },
  },
  {
    name: 'a rejected change submitted again with a comment and other white space',
    async run(testbed) {
      const change = refundOrder(18);
      await testbed.submitRejected(change);
      const raw = `/* nothing new */ UPDATE orders\n  SET status = 'refunded' -- as agreed\n  WHERE id = 18;`;
      return remembered(testbed, { ...change, raw });
    },
  },
];

async function remembered(testbed: Testbed, change: Change): Promise<Attempt> {
  const { changeId, violations } = await testbed.submitAndWait(change);
  const shown = violations.some(({ validatorId }) => validatorId === 'guardian.previously_rejected');
  return withoutRow(changeId, 'guardian.previously_rejected', shown ? null : 'the earlier rejection is not shown');
}

/** Null if rows and counted repeats of one kind are as many as expected. */
async function uncounted(testbed: Testbed, changeId: string, kind: string, expected: number): Promise<string | null> {
  const rows = (await testbed.rows(changeId)).filter((row) => row.kind === kind).length;
  const counts = await testbed.ledger<{ count: string }>('select count from refusal_counts where change_id = $1', [
    changeId,
  ]);
  const all = counts.reduce((sum, { count }) => sum + Number(count), rows);
  return all >= expected ? null : `${all} of ${expected} refusals are in the ledger`;
}

/** Null if the refusals that say "all is well" are the gateway's, and the committer has one of its own. */
async function wrongWriters(testbed: Testbed, changeId: string): Promise<string | null> {
  const rows = await testbed.ledger<{ actor: string; forged: boolean }>(
    `select actor, body::json ->> 'explanation' = 'all is well' as forged from ledger where change_id = $1 and kind = 'refused'`,
    [changeId],
  );
  if (!rows.some(({ actor, forged }) => actor === 'cs_commit' && !forged))
    return 'the refusal of the committer has no row';
  const isMisattributed = rows.some(({ actor, forged }) => actor !== 'cs_gateway' && forged);
  return isMisattributed ? 'the row of the gateway names another writer' : null;
}

/** Appends a row with the gateway's role. */
async function append(
  testbed: Testbed,
  changeId: string,
  fact: string,
  body: JsonObject,
  kind = 'refused',
): Promise<void> {
  const refusal = await appendAs(testbed, 'cs_gateway', changeId, { kind, body: canonicalJson(body), fact });
  if (refusal !== null) throw new Error(refusal);
}

/** How a change ended, or the validators that hold it. */
async function endedOrHeld(testbed: Testbed, change: Change): Promise<string> {
  const changeId = await testbed.submit(change);
  const held = await heldBy(testbed, changeId);
  if (held[0] !== 'closed') return `held by ${held.join(', ')}`;
  return (await testbed.ended(changeId)).state;
}
