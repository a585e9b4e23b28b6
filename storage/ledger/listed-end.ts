import { z } from 'zod';
import { ReviewState, RollbackReason, TerminalState } from '../../policy/contracts/outcome';
import type { ReviewProjection } from '../../policy/evidence/ledger-port';

const Ended = z.object({ state: TerminalState, reason: RollbackReason.nullable() });
const Open = ReviewState.exclude(TerminalState.options);

/**
 * State, reason and end of a listed review. The projection is an index: that a review has ended, and how, comes from the body of its
 * row `closed`, which only the committer may append. A review whose row is absent or cannot be read is not shown as ended.
 */
export function listedEnd(
  closed: unknown,
  projection: { readonly state: string; readonly closedAt: string | null },
): Pick<ReviewProjection, 'state' | 'reason' | 'closedAt'> {
  const ended = Ended.safeParse(closed);
  if (ended.success) return { ...ended.data, closedAt: projection.closedAt };
  return { state: Open.safeParse(projection.state).data ?? 'COMMITTING', reason: null, closedAt: null };
}
