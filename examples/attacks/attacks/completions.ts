/** Activities that somebody else completes in the place of our workers: by id, faster than they, or while their queue is throttled to nothing. */
import type { ReviewStatus } from '../../../policy/contracts/status';
import type { PolicyViolation } from '../../../policy/contracts/violation';
import { stagingSha as stagingShaOf, type StagingRecord } from '../../../policy/contracts/staging-record';
import { signPredicate } from '../../../signing/envelope';
import { newKeyPair } from '../../../signing/keys';
import { raisePay, refundOrder, refused, topUp, type Attack } from '../attack';
import type { Ground } from '../ground';
import { pause, RaceLost } from '../namespace-writer';

const allow = (id: string) => ({ validator_id: id, status: 'ALLOW', reason: '', evidenceRefs: [] });

/** Runs `work` while no worker gets an activity of these queues. */
async function throttled<T>(ground: Ground, queues: readonly string[], work: () => Promise<T>): Promise<T> {
  for (const queue of queues) await ground.attacker.throttle(queue, true);
  try {
    return await work();
  } finally {
    for (const queue of queues) await ground.attacker.throttle(queue, false);
  }
}

/**
 * Whether the poller or our committer had the commit. Where it was ours, its end is not waited for: the poller hinders the
 * rollback as well.
 */
async function isStolen(ground: Ground, stolen: ReadonlySet<string>, changeId: string): Promise<boolean> {
  for (let i = 0; i < 200 && !stolen.has(changeId); i++) {
    if ((await ground.rows(changeId)).some(({ kind }) => kind === 'refused')) return false;
    await pause(100);
  }
  return stolen.has(changeId);
}

/** Has the workflow believe that people have confirmed everything. */
async function forgeAdmission(
  ground: Ground,
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
      admittedAt: new Date().toISOString(),
      digest: String(i).repeat(64),
    })),
  );
  const { attacker } = ground;
  const next = await attacker.nextActivity(status.changeId);
  const race = attacker.race(status.changeId, next, { results: {}, admitted });
  // As many as a message may hold: our worker is at them for a while.
  const junk = Array.from({ length: 50 }, () => ground.sign(status, newKeyPair())).flat();
  await Promise.all([race, ground.signal(status.changeId, junk.slice(0, 50))]);
}

/** What a committer answers, without its signature. */
const committed = (receipt: unknown) => ({
  state: 'COMMITTED',
  reason: null,
  explanation: 'Committed',
  mode: 'enforced',
  planHash: '0'.repeat(64),
  stagingSha: null,
  receipt,
});

function forgedCommit(name: string, receiptFor: (ground: Ground, changeId: string) => Promise<unknown>): Attack {
  return {
    name: `complete-activity by id: commit, ${name}`,
    async run(ground) {
      const status = await ground.asked(refundOrder(12));
      const { changeId } = status;
      const receipt = await receiptFor(ground, changeId);
      await throttled(ground, [ground.queues.commit], async () => {
        await forgeAdmission(ground, status);
        await ground.attacker.complete(changeId, 'commit', committed(receipt));
        await ground.ended(changeId);
      });
      return { changeId, refusal: null, forged: true };
    },
  };
}

export const COMPLETIONS: readonly Attack[] = [
  {
    name: 'complete-activity by id: guardians',
    async run(ground) {
      const { plan } = await ground.countersign.evidence((await ground.asked(refundOrder(8))).changeId);
      const rules = (plan?.validators ?? []).filter(
        (v) => v.kind === 'derived' && !v.needsStaging && v.phase === 'preflight' && v.unit !== 'builtin',
      );
      const units = [...new Set(rules.map(({ unit }) => unit))];
      const holds = rules.find(({ id }) => id === 'guardian.orders');
      // Activity 1 opens the review; then comes one for each unit, in the plan's order.
      const activityId = String(2 + units.indexOf(holds?.unit ?? ''));
      const { changeId, submission } = await ground.prepared(refundOrder(8));
      const race = ground.attacker.race(changeId, activityId, { 'guardian.orders': allow('guardian.orders') });
      await Promise.all([race, ground.startByHand(changeId, submission)]);
      await ground.ended(changeId);
      return { changeId, refusal: refused('recomputed', 'disclosure') };
    },
  },
  {
    name: 'complete-activity by id: stage',
    async run(ground) {
      const record: StagingRecord = {
        sourceTool: 'SQLDryRun',
        target: 'shop',
        origin: 'measured',
        statements: [],
        tables: [],
        sideEffects: [],
        fullyCaptured: true,
        uncaptured: [],
        base: {},
        serverVersion: '18.0',
      };
      const changeId = await throttled(ground, [ground.queues.commit], async () => {
        const id = await ground.submit(topUp(9));
        const { plan } = await ground.countersign.evidence(id);
        const results = Object.fromEntries((plan?.validators ?? []).map((v) => [v.id, allow(v.id)]));
        const staged = { kind: 'staged', record, stagingSha: stagingShaOf(record), results };
        await ground.attacker.complete(id, 'stage', staged);
        return id;
      });
      await ground.ended(changeId);
      return { changeId, refusal: refused('staging') };
    },
  },
  {
    name: 'complete-activity by id: callbacks',
    async run(ground) {
      const gift = {
        sourceTool: 'SQLDryRun',
        raw: 'update gifts set cents = 90000 where id = 10',
        metadata: { table_name: 'gifts', affected_rows: 1, cents: 90_000 },
      };
      const honest = await ground.ended(await ground.submit(gift));
      if (honest.state === 'ABORTED') throw new Error(honest.why);
      const resolved = honest.outcome.violations.map((v): PolicyViolation => ({
        ...v,
        need: 'callback',
        callbackResult: { passed: true, message: null },
      }));
      const forged = {
        callbackResults: Object.fromEntries(
          resolved.map((v) => [`${v.findingIndex}/${v.policyKey}`, v.callbackResult]),
        ),
        violations: resolved,
        fingerprint: '0'.repeat(64),
        disclosedAt: new Date().toISOString(),
        reachable: ['alice'],
      };
      let race: Promise<void> = Promise.resolve();
      const changeId = await throttled(ground, [ground.queues.judge], async () => {
        const id = await ground.submit(gift);
        const asked = await ground.attacker.pending(id, 'askJudge');
        race = ground.attacker.race(id, String(Number(asked) + 1), forged);
        return id;
      });
      await race;
      await ground.ended(changeId);
      // Our own worker may have disclosed as well, before it heard that it was too late.
      return { changeId, refusal: refused('disclosure') };
    },
  },
  {
    name: 'complete-activity by id: judge',
    async run(ground) {
      const change = { ...topUp(11), raw: `update accounts set owner = 'mallory' where id = 11` };
      const changeId = await throttled(ground, [ground.queues.judge], async () => {
        const id = await ground.submit(change);
        const envelope = { payloadType: 'application/vnd.in-toto+json', payload: '', signatures: [] };
        await ground.attacker.complete(id, 'askJudge', {
          result: allow('guardian.llm_judge'),
          envelope,
          reused: false,
        });
        return id;
      });
      await ground.ended(changeId);
      return { changeId, refusal: refused('findings', 'disclosure') };
    },
  },
  {
    name: 'complete-activity by id: admission',
    async run(ground) {
      const status = await ground.asked(raisePay(12));
      await forgeAdmission(ground, status, ['alice', 'bob']);
      await ground.ended(status.changeId);
      return { changeId: status.changeId, refusal: refused('decision') };
    },
  },
  forgedCommit('without a receipt', async () => null),
  forgedCommit('with a receipt signed by another key', async (ground, changeId) => {
    const mallory = newKeyPair();
    const genuine = await ground.receiptOf(await ground.submit(topUp(13)));
    return signPredicate('receipt', { ...genuine.predicate, changeId, keyId: mallory.keyId }, mallory);
  }),
  forgedCommit('with the genuine receipt of another change', async (ground) => {
    const genuine = await ground.receiptOf(await ground.submit(topUp(14)));
    return genuine.envelope;
  }),
  {
    name: 'complete-activity by id: rollback, as a commit',
    async run(ground) {
      const status = await ground.asked(refundOrder(15));
      const { changeId } = status;
      await throttled(ground, [ground.queues.commit], async () => {
        await ground.update(changeId, ground.sign(status, ground.person('alice'), 'reject'));
        await ground.attacker.complete(changeId, 'rollback', committed(null));
        await ground.ended(changeId);
      });
      return { changeId, refusal: null, forged: true };
    },
  },
  {
    name: 'a hostile worker polls the commit queue',
    async run(ground) {
      // Dry runs first: the poller would take those as well. Then it competes until our committer's older polls are served.
      const open = await Promise.all(Array.from({ length: 16 }, () => ground.asked(refundOrder(16))));
      const poller = ground.attacker.poll(ground.queues.commit, 'commit', committed(null));
      try {
        for (const status of open) {
          const { changeId } = status;
          await forgeAdmission(ground, status);
          if (!(await isStolen(ground, poller.stolen, changeId))) continue;
          await ground.ended(changeId);
          return { changeId, refusal: null, forged: true };
        }
        throw new RaceLost(`our committer was first, ${open.length} times`);
      } finally {
        await poller.stop();
      }
    },
  },
];
