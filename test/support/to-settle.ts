import type { CommitContext, SettleContext } from '../../policy/contracts/target-effects';

/** What an adapter gets to settle the change of a commit whose outcome is not known. */
export function toSettle({ changeId, target, settings, approved, intentAt, sends }: CommitContext): SettleContext {
  return { changeId, target, settings, approved, intentAt, sends };
}
