import { condition, setHandler } from '@temporalio/workflow';
import type { DecidedMessage } from '../../policy/contracts/messages';
import { commitSignal, rollbackSignal } from '../../workflows/messages';

/** Waits for what becomes of its change, and returns it. */
export async function requester(): Promise<{
  readonly signal: 'commit' | 'rollback';
  readonly message: DecidedMessage;
}> {
  let heard: { signal: 'commit' | 'rollback'; message: DecidedMessage } | null = null;
  setHandler(commitSignal, (message) => void (heard = { signal: 'commit', message }));
  setHandler(rollbackSignal, (message) => void (heard = { signal: 'rollback', message }));
  await condition(() => heard !== null, '60 s');
  if (heard === null) throw new Error('Nothing was heard');
  return heard;
}
