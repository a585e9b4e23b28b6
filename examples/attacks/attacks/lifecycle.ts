/** A reject that its workflow is made to forget. */
import { answerRefused, refundOrder, refused, type Attack } from '../attack';

export const LIFECYCLE: readonly Attack[] = [
  {
    name: 'reset to before a rejection',
    async run(ground) {
      const status = await ground.asked(refundOrder(4));
      const { changeId } = status;
      await ground.update(changeId, ground.sign(status, ground.person('alice'), 'reject'));
      await ground.ended(changeId);
      await ground.attacker.resetToStart(changeId);
      const again = await ground.waiting(changeId);
      await ground.update(changeId, ground.sign(again, ground.person('bob')));
      await ground.commitByHand(again);
      return { changeId, refusal: answerRefused('closed') };
    },
  },
  {
    name: 'terminate and restart after a rejection that the workflow never heard of',
    async run(ground) {
      const status = await ground.asked(refundOrder(5));
      const { changeId } = status;
      const { submission } = await ground.submissionOf(changeId);
      await ground.admitByHand(status, ground.sign(status, ground.person('alice'), 'reject'));
      await ground.temporal.workflow.getHandle(changeId).terminate('maintenance');
      await ground.startByHand(changeId, submission);
      const again = await ground.waiting(changeId);
      await ground.update(changeId, ground.sign(again, ground.person('bob')));
      await ground.ended(changeId);
      return { changeId, refusal: refused('standing_reject') };
    },
  },
  {
    name: 'resubmission after a rejection',
    async run(ground) {
      const status = await ground.asked(refundOrder(6));
      await ground.update(status.changeId, ground.sign(status, ground.person('alice'), 'reject'));
      await ground.ended(status.changeId);
      const again = await ground.asked({ ...refundOrder(6), requestKey: 'please' });
      if (!again.violations.some((v) => v.validatorId === 'guardian.previously_rejected'))
        throw new Error('nobody is told of the rejection');
      await ground.commitByHand(again);
      return { changeId: again.changeId, refusal: refused('decision') };
    },
  },
  {
    name: 'edited workflow input: the review is terminated and started again with another diff',
    async run(ground) {
      const { changeId } = await ground.asked(refundOrder(7));
      const { submission } = await ground.prepared({ ...refundOrder(7), raw: 'delete from orders where id = 7' });
      await ground.temporal.workflow.getHandle(changeId).terminate('maintenance');
      await ground.startByHand(changeId, submission);
      const refusal = refused('openReview: changeId');
      await ground.row(changeId, refusal);
      return { changeId, refusal };
    },
  },
];
