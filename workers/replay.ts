/**
 * A process with low priority that replays histories. The committer starts it, sends the change ids and receives one message for each
 * history; the process then ends.
 */
import { constants, setPriority } from 'node:os';
import { z } from 'zod';
import { main } from './main';
import type { Replayed } from './replay/replay-histories';
import { ownBuild, replayReviews } from './replay/replay-reviews';
import { openClient } from './temporal';

const ChangeIds = z.array(z.string()).max(100_000);

main('replay', async () => {
  setPriority(process.pid, constants.priority.PRIORITY_LOW);
  const changeIds = await received();
  const client = openClient(process.env);
  try {
    const replays = replayReviews(process.env, client, changeIds, ownBuild(process.env));
    for await (const replayed of replays) await sent(replayed);
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
