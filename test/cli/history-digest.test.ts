import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { historyDigest } from '../../cli/evidence/history-digest';

const grpc = (code: number): Error =>
  Object.assign(new Error(`code ${code}`), { code, details: 'refused', metadata: {} });
const EVENTS = [{ eventId: 1, workflowExecutionStartedEventAttributes: { originalExecutionRunId: 'r' } }];

function digest(fetch: () => unknown, describe: () => unknown = () => ({})) {
  const handle = { fetchHistory: async () => fetch(), describe: async () => describe() };
  const client = {
    withDeadline: <T>(_deadline: number, call: () => Promise<T>) => call(),
    workflow: { getHandle: () => handle },
  };
  return historyDigest(client as unknown as Client, 'a'.repeat(64));
}
const throwing = (error: Error) => (): never => {
  throw error;
};

test('the digest of a history names its run and the number of its events', async () => {
  expect(await digest(() => ({ events: EVENTS }))).toMatchObject({ runId: 'r', events: 1 });
});

test('there is no digest only if Temporal says that the workflow does not exist', async () => {
  const gone = throwing(new WorkflowNotFoundError('not found', 'a', undefined));
  expect(await digest(throwing(grpc(5)), gone)).toBeNull();
  // The server has the same code for an unknown namespace.
  await expect(digest(throwing(grpc(5)), throwing(new NamespaceNotFoundError('absent')))).rejects.toThrow('absent');
  await expect(digest(throwing(grpc(5)))).rejects.toThrow('code 5');
});

test('a server that does not answer, or returns no events, is an error', async () => {
  await expect(digest(throwing(grpc(14)))).rejects.toThrow('code 14');
  await expect(digest(() => ({ events: [] }))).rejects.toThrow('without its first event');
});
