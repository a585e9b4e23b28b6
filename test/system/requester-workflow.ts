import { condition, setHandler } from '@temporalio/workflow';
import type { DecidedMessage } from '../../policy/contracts/messages';
import { commitSignal, rollbackSignal } from '../../workflows/messages';

/** Waits up to 60 s for the signal `commit` or `rollback` and returns it. */
export async function requester(): Promise<{
  readonly signal: 'commit' | 'rollback';
  readonly message: DecidedMessage;
}> {
  let received: { signal: 'commit' | 'rollback'; message: DecidedMessage } | null = null;
  setHandler(commitSignal, (message) => void (received = { signal: 'commit', message }));
  setHandler(rollbackSignal, (message) => void (received = { signal: 'rollback', message }));
  await condition(() => received !== null, '60 s');
  if (received === null) throw new Error('No signal within 60 s');
  return received;
}
