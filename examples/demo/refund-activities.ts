import type { Countersign } from '../../client/countersign';
import { verifyReceipt, type ReceiptTrust } from '../../client/receipt';
import type { Envelope } from '../../policy/contracts/diff';
import { sha256HexOfText } from '../../policy/contracts/hash';
import type { Refund } from './extension';
import type { Shop } from './shop';

interface RefundDeps {
  /** The Temporal client: only a requester that is a workflow in the same namespace can receive a signal. */
  readonly countersign: Pick<Countersign, 'submit'>;
  readonly trust: ReceiptTrust;
  readonly shop: Shop;
}

export function createRefundActivities({ countersign, trust, shop }: RefundDeps) {
  return {
    async submitRefund(input: {
      refund: Refund;
      requestKey: string;
      replyTo: { workflowId: string };
    }): Promise<string> {
      const { refund, requestKey, replyTo } = input;
      const submitted = await countersign.submit({
        target: 'shop',
        sourceTool: 'ShopRefund',
        raw: JSON.stringify(refund),
        metadata: { orderId: refund.orderId },
        requestKey,
        replyTo,
      });
      return submitted.changeId;
    },

    /** True if and only if a trusted committer signed COMMIT for exactly these bytes. */
    async verifyReceipt(input: { changeId: string; refund: Refund; receipt: Envelope | null }): Promise<boolean> {
      const checked = verifyReceipt(input.receipt, trust);
      if (!checked.ok) return false;
      const { changeId, action, diffSha, mode } = checked.receipt;
      return (
        changeId === input.changeId &&
        action === 'COMMIT' &&
        mode === 'cooperative' &&
        diffSha === sha256HexOfText(JSON.stringify(input.refund))
      );
    },

    /** Idempotent, because Temporal may retry it: in cooperative mode the requester itself guarantees at most one effect. */
    async payBack({ refund }: { changeId: string; refund: Refund }): Promise<void> {
      await shop.query(
        `update orders set status = 'refunded', version = version + 1 where id = $1 and status <> 'refunded'`,
        [refund.orderId],
      );
    },
  };
}
