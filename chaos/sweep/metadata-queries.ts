import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError, type Client } from '@temporalio/client';
import { GRPC } from '../../client/temporal-errors';
import { RAN_AHEAD } from '../../policy/contracts/messages';
import { seededRandom } from '../seeded-random';

/** The SDK answers it in each workflow. The Temporal UI sends it to show the current details. */
const QUERY = '__temporal_workflow_metadata';
/** About ten queries a second. */
const MAX_PAUSE_MS = 200;
const TIMEOUT_MS = 10_000;
/** While workers are down, queries wait until their time-out. */
const MAX_AT_ONCE = 40;

export interface QueryCounts {
  readonly answered: number;
  /** Refused by workflows/refuse-run-ahead.ts. */
  readonly ranAhead: number;
  /** The worker was killed or busy, or a server was down. */
  readonly timedOut: number;
  readonly failed: number;
}

interface QueryOptions {
  readonly temporal: Pick<Client, 'workflow' | 'withDeadline'>;
  /** The ids of the open reviews at each moment. */
  readonly open: ReadonlySet<string>;
  readonly seed: number;
}

/**
 * Queries open reviews at random times, so that the sweep reaches the guard against queries that run ahead (docs/decisions/0009). The
 * seed decides which review is queried and the pause before it. Failures are expected and counted. `stop` waits for open queries.
 */
export function startMetadataQueries({ temporal, open, seed }: QueryOptions): { stop(): Promise<QueryCounts> } {
  const roll = seededRandom(seed);
  const counts = { answered: 0, ranAhead: 0, timedOut: 0, failed: 0 };
  const running = new Set<Promise<void>>();
  let isOver = false;

  async function query(changeId: string): Promise<void> {
    try {
      await temporal.withDeadline(Date.now() + TIMEOUT_MS, () => temporal.workflow.getHandle(changeId).query(QUERY));
      counts.answered++;
    } catch (error) {
      counts[kindOf(error)]++;
    }
  }

  const sending = (async () => {
    while (!isOver) {
      await sleep(roll(MAX_PAUSE_MS));
      const changeId = [...open][roll(Math.max(1, open.size))];
      if (changeId === undefined || running.size >= MAX_AT_ONCE) continue;
      const one: Promise<void> = query(changeId).finally(() => running.delete(one));
      running.add(one);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await sending;
      await Promise.all(running);
      return counts;
    },
  };
}

function kindOf(error: unknown): 'ranAhead' | 'timedOut' | 'failed' {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (`${String(error)} ${String(cause)}`.includes(RAN_AHEAD)) return 'ranAhead';
  return isGrpcServiceError(cause) && cause.code === GRPC.DEADLINE_EXCEEDED ? 'timedOut' : 'failed';
}
