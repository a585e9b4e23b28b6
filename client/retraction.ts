import type { LedgerRow } from '../policy/contracts/ledger';
import { messageDigest, openEnvelope } from '../policy/evidence/dsse';

/**
 * The digest of a person's latest confirmation by violation id, from the rows of a review: what a retraction must name. Confirmations
 * that were retracted or followed by a reject are omitted.
 */
export function confirmationsOf(rows: readonly LedgerRow[], person: string): ReadonlyMap<string, string> {
  const confirmed = new Map<string, { readonly digest: string; readonly issuedAt: string }>();
  const over = new Set<string>();
  for (const { kind, body } of rows) {
    if ((kind !== 'answer_accepted' && kind !== 'retracted') || body['person'] !== person) continue;
    const opened = openEnvelope('answer', body['answer']);
    if (!opened.ok) continue;
    const { violationId, decision, issuedAt, retracts } = opened.statement.predicate;
    if (decision === 'reject') over.add(violationId);
    if (retracts !== null && confirmed.get(violationId)?.digest === retracts) confirmed.delete(violationId);
    const before = confirmed.get(violationId);
    if (decision === 'confirm' && (before === undefined || Date.parse(before.issuedAt) < Date.parse(issuedAt)))
      confirmed.set(violationId, { digest: messageDigest(body['answer']), issuedAt });
  }
  return new Map([...confirmed].flatMap(([id, { digest }]) => (over.has(id) ? [] : [[id, digest] as const])));
}
