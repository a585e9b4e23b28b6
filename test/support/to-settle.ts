import type { CommitContext, SettleContext } from '../../policy/contracts/target-effects';

/** What an adapter gets to settle the change of a commit whose outcome is not known. */
export const toSettle = ({
  changeId,
  target,
  settings,
  approved: record,
  intentAt,
  sends,
}: CommitContext): SettleContext => ({
  changeId,
  target,
  settings,
  approved: record,
  intentAt,
  sends,
});
