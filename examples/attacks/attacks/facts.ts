/** Attacks on what the ledger counts and remembers: refusals, limits over many changes, earlier rejects, stored bytes. */
import { canonicalJson, type JsonObject } from '../../../policy/contracts/canonical-json';
import { appendAs } from '../append-as';
import { ifRefused } from '../if-refused';
import { answerRefused, raisePay, refundOrder, refused, topUp, type Attack } from '../attack';
import { query } from '../../../dev/query';
import type { Testbed } from '../testbed';

const TIMES = 40;
export const FACTS: readonly Attack[] = [
  {
    name: 'forty different forged answers under one activity id',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(10));
      const { changeId } = status;
      const forged = Array.from({ length: TIMES }, (_, i) => ({
        violationId: status.violations[0]?.violationId,
        fingerprint: status.fingerprint,
        decision: 'confirm',
        reason: `try ${i}`,
        actor: 'alice',
      }));
      const inputs = forged.map((answer) => testbed.admission(status, [answer]));
      await testbed.attacker.scheduleUnderOneId('admitAnswer', testbed.queues.review, inputs);
      const refusal = answerRefused('unsigned_not_accepted');
      return { changeId, refusal, check: () => counted(testbed, changeId, 'answer_refused', TIMES) };
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
      return { changeId, refusal, check: () => counted(testbed, changeId, 'answer_refused', TIMES) };
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
      return { changeId, refusal, check: () => counted(testbed, changeId, 'refused', 20) };
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
      const check = async (): Promise<string | null> => {
        const rows = await actors(testbed, changeId);
        if (!rows.some(({ actor, explanation }) => actor === 'cs_commit' && explanation !== 'all is well'))
          return 'the refusal of the committer has no row';
        return rows.some(({ actor, explanation }) => actor !== 'cs_gateway' && explanation === 'all is well')
          ? 'the row of the gateway names another writer'
          : null;
      };
      return { changeId, refusal: refused('decision', '1 violations lack a valid answer'), check };
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
      const check = async (): Promise<string | null> =>
        result === 'COMMITTED' ? null : `the change of an honest agent is ${result}`;
      return { changeId, refusal: null, by: 'the limit of an honest agent: its change commits', check };
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
      return {
        changeId,
        refusal: null,
        by: 'guardian.deletes',
        check: async () => (held.includes('guardian.deletes') ? null : `the limit does not hold it: ${held.join()}`),
      };
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
      return {
        changeId,
        refusal: null,
        by: 'database: digest_of_bytes',
        check: async () =>
          !taken && state === 'COMMITTED' ? null : `bytes taken: ${taken}, the change of an honest agent is ${state}`,
      };
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

async function remembered(testbed: Testbed, change: Parameters<Testbed['submit']>[0]) {
  const { changeId, violations } = await testbed.submitAndWait(change);
  const shown = violations.some(({ validatorId }) => validatorId === 'guardian.previously_rejected');
  const check = async (): Promise<string | null> => (shown ? null : 'the earlier rejection is not shown');
  return { changeId, refusal: null, by: 'guardian.previously_rejected', check };
}

/** Rows and counted repeats of one kind. */
async function counted(testbed: Testbed, changeId: string, kind: string, expected: number): Promise<string | null> {
  const rows = (await testbed.rows(changeId)).filter((row) => row.kind === kind).length;
  const counts = await query<{ count: string }>(
    testbed.dev.runtime.postgres.superuserUrl('countersign'),
    'select count from refusal_counts where change_id = $1',
    [changeId],
  );
  const all = counts.reduce((sum, { count }) => sum + Number(count), rows);
  return all >= expected ? null : `${all} of ${expected} refusals are in the ledger`;
}

async function actors(testbed: Testbed, changeId: string): Promise<{ actor: string; explanation: unknown }[]> {
  const rows = await query<{ actor: string; body: string }>(
    testbed.dev.runtime.postgres.superuserUrl('countersign'),
    `select actor, body from ledger where change_id = $1 and kind = 'refused'`,
    [changeId],
  );
  return rows.map(({ actor, body }) => ({
    actor: actor,
    explanation: (JSON.parse(body) as Record<string, unknown>)['explanation'],
  }));
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

async function heldBy(testbed: Testbed, changeId: string): Promise<string[]> {
  for (;;) {
    const rows = await testbed.rows(changeId);
    if (rows.some(({ kind }) => kind === 'closed')) return ['closed'];
    const disclosed = rows.find(({ kind }) => kind === 'disclosed');
    if (disclosed !== undefined)
      return (disclosed.body['violations'] as { validatorId: string }[]).map(({ validatorId }) => validatorId);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** How a change ended, or the validators that hold it. */
async function endedOrHeld(testbed: Testbed, change: Parameters<Testbed['submit']>[0]): Promise<string> {
  const changeId = await testbed.submit(change);
  const held = await heldBy(testbed, changeId);
  if (held[0] !== 'closed') return `held by ${held.join(', ')}`;
  return (await testbed.ended(changeId)).state;
}
