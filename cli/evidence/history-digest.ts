import { isGrpcServiceError, type Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { WorkflowNotFoundError } from '@temporalio/common';
import { GRPC } from '../../client/temporal-errors';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import { sha256HexOfText } from '../../policy/contracts/hash';
import type { HistoryDigest } from '../../policy/evidence/bundle';

const TIMEOUT_MS = 15_000;

/** Digest of the latest run's history; null if Temporal no longer has it. Throws if it cannot be read. */
export async function historyDigest(client: Client, changeId: string): Promise<HistoryDigest | null> {
  try {
    return await client.withDeadline(Date.now() + TIMEOUT_MS, () => digestOf(client, changeId));
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

async function digestOf(client: Client, changeId: string): Promise<HistoryDigest> {
  const handle = client.workflow.getHandle(changeId);
  try {
    const history = await handle.fetchHistory();
    const events = history.events ?? [];
    const runId = events[0]?.workflowExecutionStartedEventAttributes?.originalExecutionRunId ?? '';
    if (runId === '') throw new Error('Temporal returned a history without its first event');
    return { runId, events: events.length, sha256: sha256HexOfText(canonicalJson(JSON.parse(historyToJSON(history)))) };
  } catch (error) {
    // The same code means that the namespace does not exist. `describe` throws different errors for the two.
    if (isGrpcServiceError(error) && error.code === GRPC.NOT_FOUND) await handle.describe();
    throw error;
  }
}
