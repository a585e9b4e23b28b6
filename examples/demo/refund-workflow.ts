/** A requester that is a workflow: submits a refund, waits for the signal, verifies the receipt, and only then acts. */
import { condition, defineSignal, proxyActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import { REPLY_MESSAGES, type DecidedMessage } from '../../policy/contracts/messages';
import type { Refund } from './extension';
import type { createRefundActivities } from './refund-activities';

const { submitRefund, verifyReceipt, payBack } = proxyActivities<ReturnType<typeof createRefundActivities>>({
  startToCloseTimeout: '30 s',
  retry: { maximumAttempts: 5 },
});

const commitSignal = defineSignal<[DecidedMessage]>(REPLY_MESSAGES.commit);
const rollbackSignal = defineSignal<[DecidedMessage]>(REPLY_MESSAGES.rollback);

export interface RefundResult {
  readonly changeId: string;
  readonly paidBack: boolean;
}

export async function refundRequester(refund: Refund, requestKey: string): Promise<RefundResult> {
  let decided: DecidedMessage | null = null;
  // Handlers first: the signal may arrive as soon as the review is closed.
  setHandler(commitSignal, (message) => void (decided = message));
  setHandler(rollbackSignal, (message) => void (decided = message));
  const changeId = await submitRefund({ refund, requestKey, replyTo: { workflowId: workflowInfo().workflowId } });
  await condition(() => decided !== null, '1 h');
  const message = decided as DecidedMessage | null;
  // The signal proves nothing, because anyone with write access to the namespace can send it. The receipt does.
  if (message === null || !(await verifyReceipt({ changeId, refund, receipt: message.receipt })))
    return { changeId, paidBack: false };
  await payBack({ changeId, refund });
  return { changeId, paidBack: true };
}
