import type { Client } from '@temporalio/client';
import { startMetadataQueries } from '../../chaos/sweep/metadata-queries';
import { RAN_AHEAD } from '../../policy/contracts/messages';
import { eventually } from '../support/eventually';

const OPEN = new Set(['a', 'b', 'c', 'd']);
const deadlineExceeded = Object.assign(new Error('deadline'), { code: 4, details: '', metadata: {} });
const REPLIES: readonly (Error | null)[] = [
  null,
  new Error('Query failed', { cause: new Error(`${RAN_AHEAD}: repeat the query`) }),
  new Error('Failed to query', { cause: deadlineExceeded }),
  new Error('Failed to query', {
    cause: Object.assign(new Error('not found'), { code: 5, details: '', metadata: {} }),
  }),
  null,
];

/** Sends queries to a server that replies in this order and then not at all; resolves with the counts and the reviews that were queried. */
async function queryAll(seed: number) {
  const queried: string[] = [];
  const query = async (changeId: string): Promise<string> => {
    const reply = REPLIES[queried.push(changeId) - 1];
    if (reply instanceof Error) throw reply;
    return 'metadata';
  };
  const temporal = {
    withDeadline: async <T>(_deadline: number | Date, work: () => Promise<T>) => work(),
    workflow: { getHandle: (changeId: string) => ({ query: () => query(changeId) }) },
  } as unknown as Client;
  const queries = startMetadataQueries({ temporal, open: OPEN, seed });
  await eventually('enough queries were sent', () => queried.length >= REPLIES.length);
  return { queried: queried.slice(0, REPLIES.length), counts: await queries.stop() };
}

test('the queries of the crash sweep are counted by what became of them, and the seed decides which reviews are queried', async () => {
  const [first, again, other] = await Promise.all([queryAll(1), queryAll(1), queryAll(2)]);
  expect(first.counts).toEqual({ answered: expect.any(Number), ranAhead: 1, timedOut: 1, failed: 1 });
  expect(first.counts.answered).toBeGreaterThanOrEqual(2);
  expect(again.queried).toEqual(first.queried);
  expect(other.queried).not.toEqual(first.queried);
});
