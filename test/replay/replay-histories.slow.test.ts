import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import type { temporal } from '@temporalio/proto';
import { REVIEW_WORKFLOW } from '../../policy/contracts/queues';
import { createPayloadCodec } from '../../workers/encryption/payload-codec';
import { installQuietRuntime } from '../../workers/replay/quiet-runtime';
import { replayHistories, type Replayed } from '../../workers/replay/replay-histories';
import { workflowBundle } from '../support/workflow-bundle';
import type { HistoryJson } from '../support/history';

const FILE = join(__dirname, '..', 'histories', 'v0.2.0-committed.json');
const recorded = JSON.parse(readFileSync(FILE, 'utf8')) as { workflowId: string; history: HistoryJson };
const SOUND = recorded.workflowId;
const timedOut = new ServiceError('Failed to describe workflow', {
  cause: Object.assign(new Error('4 DEADLINE_EXCEEDED'), { code: 4, details: 'the deadline has passed', metadata: {} }),
});
const ERRORS: Readonly<Record<string, Error>> = {
  gone: new WorkflowNotFoundError('not found', 'gone', undefined),
  memo: new TypeError('Unknown encoding: binary/zip'),
  slow: timedOut,
};

const ringOf = (current: string, byte: number) => ({ current, keys: new Map([[current, Buffer.alloc(32, byte)]]) });

type Event = temporal.api.history.v1.IHistoryEvent;
/** The sound history, of which the payloads that `of` names are encrypted with the key `k1`. */
async function encrypted(of: 'input' | 'result'): Promise<{ readonly events: readonly Event[] }> {
  const { events } = historyFromJSON(recorded.history);
  for (const event of events ?? []) {
    const { input } = event.workflowExecutionStartedEventAttributes ?? {};
    const { result } = event.activityTaskCompletedEventAttributes ?? {};
    const payloads = of === 'input' ? input : result;
    if (payloads?.payloads != null)
      payloads.payloads = await createPayloadCodec(ringOf('k1', 1)).encode([...payloads.payloads]);
  }
  return { events: events ?? [] };
}

/** A server that has one sound history, and returns errors for other ids. */
const client = {
  withDeadline: <T>(_deadline: number, call: () => Promise<T>) => call(),
  workflow: {
    getHandle: (id: string) => ({
      describe: async () => {
        const error = ERRORS[id.split('-')[0] ?? ''];
        if (error !== undefined) throw error;
        return { runId: 'r', type: REVIEW_WORKFLOW, historySize: 1000 };
      },
      fetchHistory: async () =>
        id === 'input' || id === 'result' ? await encrypted(id) : historyFromJSON(recorded.history),
    }),
  },
} as unknown as Client;

let code: string;
beforeAll(async () => {
  installQuietRuntime();
  code = await workflowBundle();
}, 180_000);

async function replayed(
  changeIds: readonly string[],
  buildId: string | null = null,
  keys = ringOf('k2', 2),
): Promise<readonly Replayed[]> {
  const found: Replayed[] = [];
  const worker = { workflowBundle: { code }, dataConverter: { payloadCodecs: [createPayloadCodec(keys)] } };
  for await (const each of replayHistories({ client, changeIds, worker, buildId, workflowType: REVIEW_WORKFLOW }))
    found.push(each);
  return found;
}

test('a workflow that cannot be read is a failed one with its reason, and the next ones are replayed', async () => {
  const ids = ['memo', SOUND, 'slow', 'gone', 'memo-2', SOUND];
  expect((await replayed(ids)).map(({ changeId, result, why }) => [changeId, result, why])).toEqual([
    ['memo', 'failed', 'could not be read: Unknown encoding: binary/zip'],
    [SOUND, 'replays', ''],
    ['slow', 'failed', 'could not be read: the deadline has passed'],
    ['gone', 'skipped', 'Temporal no longer has it'],
    ['memo-2', 'failed', 'could not be read: Unknown encoding: binary/zip'],
    [SOUND, 'replays', ''],
  ]);
});

test('if requests fail for several workflows in a row, the replay ends with an error', async () => {
  await expect(replayed([SOUND, 'slow-1', 'slow-2', 'slow-3', SOUND])).rejects.toThrow(
    'Temporal did not answer for 3 reviews in a row: the deadline has passed',
  );
  expect(await replayed(['slow-1', 'slow-2', SOUND, 'slow-3', 'slow-4'])).toHaveLength(5);
});

test('if the server answers for no workflow, one failed request is an error', async () => {
  await expect(replayed(['slow'])).rejects.toThrow('the deadline has passed');
});

test('a history of another build is skipped and says which one', async () => {
  expect(await replayed([SOUND], 'new')).toMatchObject([{ result: 'skipped', why: 'without a build id' }]);
});

test('a history that is encrypted with a key that is not here is not damaged, and the missing key is named', async () => {
  const why =
    'it cannot be decrypted here: COUNTERSIGN_PAYLOAD_KEYS_FILE must have the key "k1" with which it was encrypted';
  expect(await replayed(['input', 'result', SOUND])).toMatchObject([
    { changeId: 'input', result: 'failed', why },
    { changeId: 'result', result: 'failed', why },
    { changeId: SOUND, result: 'replays', why: '' },
  ]);
  expect(await replayed(['input', 'result'], null, ringOf('k1', 1))).toMatchObject([
    { changeId: 'input', result: 'replays' },
    { changeId: 'result', result: 'replays' },
  ]);
  // Another key with the same id.
  expect(await replayed(['input'], null, ringOf('k1', 2))).toMatchObject([{ result: 'failed', why }]);
});
