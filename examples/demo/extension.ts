/** A team's extension module: one source tool in cooperative mode and one rule for it. Review worker and committer load it. */
import { z } from 'zod';
import {
  defineRule,
  defineSourceTool,
  pointerEvidence,
  type ExtractedFacts,
  type FactsRefusal,
} from '../../workers/extend';

export const Refund = z.strictObject({
  orderId: z.int().min(1),
  amountCents: z.int().min(1),
  why: z.string().min(1).max(200),
});
export type Refund = z.infer<typeof Refund>;

interface RefundFacts extends ExtractedFacts {
  readonly kind: 'shop-refund';
  readonly refund: Refund;
}

const PARSER = { name: 'shop-refund', version: '1' } as const;

function refundFacts(raw: Uint8Array): RefundFacts | FactsRefusal {
  const refuse = (code: string, message: string): FactsRefusal => ({ ok: false, code, message, span: null });
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw));
  } catch {
    return refuse('syntax_error', 'expected a refund as JSON');
  }
  const parsed = Refund.safeParse(value);
  if (!parsed.success) return refuse('syntax_error', parsed.error.message);
  return { ok: true, kind: 'shop-refund', parser: PARSER, refund: parsed.data };
}

const shopRefundLimit = defineRule({
  name: 'shop_refund_limit',
  pack: 'shop-rules',
  logicRevision: 2,
  config: z.strictObject({ maxCents: z.int().min(0) }),
  sourceTools: ['ShopRefund'],
  reads: ['facts'],
  parser: PARSER,
  defaultLevel: 'confirm',
  why: 'A large refund is a direct loss if it is wrong.',
  docs: 'docs/extend.md',
  apply: ({ facts, config, diff }) => {
    if (!facts.ok)
      return {
        fires: true,
        reason: `The refund cannot be parsed: ${facts.message}`,
        reasonCode: facts.code,
        evidence: [pointerEvidence(diff.diffSha, '')],
      };
    const { refund } = facts as RefundFacts;
    if (refund.amountCents <= config.maxCents) return { fires: false };
    return {
      fires: true,
      reason: `The refund of ${refund.amountCents} cents exceeds the limit of ${config.maxCents} cents`,
      evidence: [pointerEvidence(diff.diffSha, '/amountCents')],
    };
  },
});

const shopRefund = defineSourceTool({
  sourceTool: 'ShopRefund',
  mode: 'cooperative',
  parser: PARSER,
  facts: ({ raw }) => refundFacts(raw),
  measure: () => ({ operations: 1, deletions: 0, rows: 1 }),
  touched: ({ refund }, { diffSha }) => [
    {
      kind: 'pointer',
      schema: null,
      name: '/amountCents',
      text: `order ${refund.orderId}`,
      evidence: pointerEvidence(diffSha, '/amountCents'),
    },
  ],
  staging: null,
});

export const extension = { validators: [shopRefundLimit], sourceTools: [shopRefund] };
