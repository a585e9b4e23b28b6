/** A genuine answer, captured from the network and replayed for something that its signer was not shown. */
import type { Attack, Attempt } from '../attack';
import { answerRefused, refundOrder, refused } from '../attack';
import { ENDED, ifRefused } from '../if-refused';
import type { Change, Testbed } from '../testbed';

/** Alice signs an answer to one change; it is sent to the review of another. */
async function replay(
  testbed: Testbed,
  change: Change,
  before: () => Promise<unknown> = async () => {},
): Promise<Attempt> {
  const shown = await testbed.submitAndWait(refundOrder(1));
  const answers = testbed.sign(shown, testbed.keyOf('alice'));
  await before();
  const { changeId } = await testbed.submitAndWait(change);
  await testbed.update(changeId, answers);
  return { changeId, refusal: answerRefused('wrong_context') };
}

const replayed = (name: string, change: Change): Attack => ({
  name: `replayed answer: ${name}`,
  run: (testbed) => replay(testbed, change),
});

const more = refundOrder(1);

export const REPLAYS: readonly Attack[] = [
  replayed('for a changed diff', refundOrder(2)),
  replayed('for changed metadata', { ...more, metadata: { ...more.metadata, ticket: 7 } }),
  replayed('for another target', { ...more, target: 'shop2' }),
  replayed('for another review of the same change', { ...more, requestKey: 'again' }),
  {
    name: 'replayed answer: under another plan',
    async run(testbed) {
      const { bundleText, operator } = testbed;
      const other = `${bundleText}\n# another revision\n`.replace('deadline: 1h', 'deadline: 2h');
      try {
        return await replay(testbed, more, () => operator.publish(other, operator.key));
      } finally {
        await operator.publish(bundleText, operator.key);
      }
    },
  },
  {
    name: 'replayed answer: for another violation of the same review',
    async run(testbed) {
      const status = await testbed.submitAndWait({ ...refundOrder(1), raw: `update orders set status = 'refunded'` });
      const { changeId } = status;
      const [first, second] = testbed.sign(status, testbed.keyOf('alice'));
      if (first === undefined || second === undefined) throw new Error('Expected two violations');
      await testbed.update(changeId, [first]);
      // The payload of the second answer with the signature of the first.
      await testbed.update(changeId, [{ ...second, signatures: first.signatures }]);
      return { changeId, refusal: answerRefused('bad_signature') };
    },
  },
  {
    name: 'replayed answer: for a new dry run on a changed base',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(3));
      const { changeId } = status;
      const answers = testbed.sign(status, testbed.keyOf('alice'));
      await testbed.target('update orders set version = version + 1 where id = 3');
      await testbed.baseline();
      const staged = await testbed.attacker.schedule('stage', testbed.queues.commit, { changeId });
      if (!staged.ok) throw new Error(`stage: ${staged.message}`);
      const { stagingSha } = staged.result as { stagingSha: string };
      const judged = { changeId, stagingSha, validatorId: 'guardian.llm_judge' };
      const asked = await testbed.attacker.schedule('askJudge', testbed.queues.judge, judged);
      if (!asked.ok) throw new Error(`askJudge: ${asked.message}`);
      // Bypasses the workflow, which would commit on the old dry run first.
      await testbed.scheduleAdmission(status, answers);
      await testbed.scheduleCommit({ ...status, stagingSha });
      // The reconciler would tell the workflow that alice has confirmed its own dry run, and the base is restored after this attack.
      await ifRefused(testbed.countersign.withdraw(changeId, { actor: 'dana', reason: 'over' }), ENDED, null);
      return { changeId, refusal: refused('disclosure') };
    },
  },
];
