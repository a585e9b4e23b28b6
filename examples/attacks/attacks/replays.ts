/** A real answer, stolen from the wire, on something else than its signer was shown. */
import type { Attack } from '../attack';
import { answerRefused, refundOrder, refused } from '../attack';
import type { Change, Ground } from '../ground';

/** Alice confirms one change; what she signed is sent to a review of another. */
function replayed(name: string, change: Change, before: (ground: Ground) => Promise<unknown> = async () => {}): Attack {
  return {
    name: `replayed answer: ${name}`,
    async run(ground) {
      const shown = await ground.asked(refundOrder(1));
      const answers = ground.sign(shown, ground.person('alice'));
      await before(ground);
      const { changeId } = await ground.asked(change);
      await ground.update(changeId, answers);
      return { changeId, refusal: answerRefused('wrong_context') };
    },
  };
}

const more = refundOrder(1);

export const REPLAYS: readonly Attack[] = [
  replayed('on a changed diff', refundOrder(2)),
  replayed('on changed metadata', { ...more, metadata: { ...more.metadata, ticket: 7 } }),
  replayed('on another target', { ...more, target: 'shop2' }),
  replayed('on another review of the same change', { ...more, requestKey: 'again' }),
  replayed('under another plan', more, (ground) =>
    ground.operator.publish(
      `${ground.bundleText}\n# another revision\n`.replace('deadline: 1h', 'deadline: 2h'),
      ground.operator.key,
    ),
  ),
  {
    name: 'replayed answer: on another violation of the same review',
    async run(ground) {
      const status = await ground.asked({ ...refundOrder(1), raw: `update orders set status = 'refunded'` });
      const { changeId } = status;
      const [first, second] = ground.sign(status, ground.person('alice'));
      if (first === undefined || second === undefined) throw new Error('two violations were expected');
      await ground.update(changeId, [first]);
      // The signature of the first answer over the words of the second.
      await ground.update(changeId, [{ ...second, signatures: first.signatures }]);
      return { changeId, refusal: answerRefused('bad_signature') };
    },
  },
  {
    name: 'replayed answer: on a base that has moved, staged again',
    async run(ground) {
      const status = await ground.asked(refundOrder(3));
      const { changeId } = status;
      const answers = ground.sign(status, ground.person('alice'));
      await ground.target('update orders set version = version + 1 where id = 3');
      await ground.baseline();
      const ref = await ground.reference(changeId);
      const staged = await ground.attacker.schedule('stage', ground.queues.commit, ref);
      if (!staged.ok) throw new Error(`stage: ${staged.message}`);
      // Past the workflow, so that it does not commit on the old dry run first.
      await ground.admitByHand(status, answers);
      const { stagingSha } = staged.result as { stagingSha: string };
      await ground.commitByHand({ ...status, stagingSha });
      return { changeId, refusal: refused('findings', 'recomputed', 'disclosure') };
    },
  },
];
