import type { LedgerKind } from '../policy/contracts/ledger';
import type { LedgerReader } from '../policy/evidence/ledger-port';
import type { LedgerNotifications } from '../storage/ledger/notifications';

const READ_AGAIN_MS = 2_000;

/** Waits until a change has a row of one of these kinds, and returns the kind. Throws after `withinMs`. */
export async function awaitRow(
  from: { readonly ledger: Pick<LedgerReader, 'readKinds'>; readonly notifications: LedgerNotifications },
  changeId: string,
  kinds: readonly LedgerKind[],
  withinMs: number,
): Promise<LedgerKind> {
  const watch = await from.notifications.watch(changeId);
  try {
    for (const until = performance.now() + withinMs; performance.now() < until; await watch.next(READ_AGAIN_MS)) {
      const [first] = await from.ledger.readKinds(changeId, kinds);
      if (first !== undefined) return first.row.kind;
    }
  } finally {
    watch.close();
  }
  throw new Error(`The review ${changeId} has no row ${kinds.join(' or ')} after ${withinMs / 1000} s`);
}
