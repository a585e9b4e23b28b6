/** A common approval workflow in plain Temporal: the signal names the approver, and the workflow trusts it. */
import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';

const { apply } = proxyActivities<{ apply(sql: string): Promise<unknown> }>({
  startToCloseTimeout: '10 s',
  retry: { maximumAttempts: 3 },
});

export interface Approval {
  readonly approved: boolean;
  readonly approver: string;
}
const approveSignal = defineSignal<[Approval]>('approve');

export async function naiveApproval(sql: string): Promise<string> {
  let approval: Approval | null = null;
  setHandler(approveSignal, (sent) => void (approval = sent));
  if (!(await condition(() => approval !== null, '1 h'))) return 'expired';
  const { approved, approver } = approval as unknown as Approval;
  if (!approved) return `rejected by ${approver}`;
  await apply(sql);
  return `approved by ${approver} and applied`;
}
