/**
 * Replays histories in a process of its own with low priority, started by the committer: it sends the change ids, and receives one
 * message for each history. The process then ends.
 */
import { constants, setPriority } from 'node:os';
import { z } from 'zod';
import { REVIEW_WORKFLOW } from '../policy/contracts/queues';
import { main } from './main';
import { installQuietRuntime } from './replay/quiet-runtime';
import { replayHistories, type Replayed } from './replay/replay-histories';
import { dataConverter, openClient } from './temporal';
import { workflowBundle } from './workflow-bundle';

const ChangeIds = z.array(z.string()).max(100_000);

main('replay', async () => {
  setPriority(process.pid, constants.priority.PRIORITY_LOW);
  const changeIds = await received();
  installQuietRuntime();
  const client = openClient(process.env);
  try {
    const histories = replayHistories({
      client,
      changeIds,
      worker: { workflowBundle: { code: await workflowBundle() }, ...dataConverter(process.env) },
      buildId: process.env['COUNTERSIGN_BUILD_ID'] || null,
      workflowType: REVIEW_WORKFLOW,
    });
    for await (const replayed of histories) await sent(replayed);
  } finally {
    await client.connection.close();
  }
  // The channel to the parent would keep this process alive.
  process.off('disconnect', endWithParent);
  process.disconnect();
});

function endWithParent(): void {
  process.exit(1);
}

function received(): Promise<readonly string[]> {
  process.once('disconnect', endWithParent);
  return new Promise((resolve, reject) => {
    process.once('message', (message) => {
      const parsed = ChangeIds.safeParse(message);
      if (parsed.success) resolve(parsed.data);
      else reject(new TypeError('Expected change ids'));
    });
  });
}

function sent(replayed: Replayed): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(replayed, undefined, undefined, (error) => (error === null ? resolve() : reject(error)));
  });
}
