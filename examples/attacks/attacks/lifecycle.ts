/** Attacks on the life of a workflow: making it forget a reject, or restarting it with other input. */
import { answerRefused, refundOrder, refused, type Attack } from '../attack';

export const LIFECYCLE: readonly Attack[] = [
  {
    name: 'reset to before a rejection',
    async run(testbed) {
      const status = await testbed.submitRejected(refundOrder(4));
      const { changeId } = status;
      await testbed.attacker.resetToStart(changeId);
      // The new run rehearses and discloses nothing, because the change has ended, so `admitAnswer` is scheduled.
      await testbed.scheduleAdmission(status, testbed.sign(status, testbed.keyOf('bob')));
      await testbed.scheduleCommit(status);
      return { changeId, refusal: answerRefused('closed') };
    },
  },
  {
    name: 'terminate and restart after a rejection that the workflow never received',
    async run(testbed) {
      const status = await testbed.submitAndWait(refundOrder(5));
      const { changeId } = status;
      const { submission } = await testbed.submissionOf(changeId);
      await testbed.scheduleAdmission(status, testbed.sign(status, testbed.keyOf('alice'), 'reject'));
      await testbed.temporal.workflow.getHandle(changeId).terminate('maintenance');
      await testbed.startReview(changeId, submission);
      const again = await testbed.workflowWaits(changeId);
      await testbed.scheduleAdmission(again, testbed.sign(again, testbed.keyOf('bob')));
      await testbed.scheduleCommit(again);
      // The first answer that reaches the workflow also brings the rejection.
      await testbed.update(changeId, testbed.sign(again, testbed.keyOf('bob')));
      await testbed.ended(changeId);
      return { changeId, refusal: refused('standing_reject') };
    },
  },
  {
    name: 'resubmission after a rejection',
    async run(testbed) {
      await testbed.submitRejected(refundOrder(6));
      const again = await testbed.submitAndWait({ ...refundOrder(6), requestKey: 'please' });
      const human = again.violations.filter(({ need }) => need === 'human');
      const rejected = human.findIndex((v) => v.validatorId === 'guardian.previously_rejected');
      if (rejected === -1) throw new Error('The earlier rejection is not disclosed');
      // Bob confirms everything but that.
      const answers = testbed.sign(again, testbed.keyOf('bob')).filter((_, i) => i !== rejected);
      await testbed.update(again.changeId, answers);
      await testbed.scheduleCommit(again);
      return { changeId: again.changeId, refusal: refused('decision', '1 violations lack a valid answer') };
    },
  },
  {
    name: 'edited workflow input: the review is terminated and restarted with another diff',
    async run(testbed) {
      const { changeId } = await testbed.submitAndWait(refundOrder(7));
      const { submission } = await testbed.prepared({ ...refundOrder(7), raw: 'delete from orders where id = 7' });
      await testbed.temporal.workflow.getHandle(changeId).terminate('maintenance');
      await testbed.startReview(changeId, submission);
      const refusal = refused('openReview: changeId');
      await testbed.waitForRow(changeId, refusal);
      return { changeId, refusal };
    },
  },
];
