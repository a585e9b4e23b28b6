import type { Connection } from '@temporalio/client';
import { messageOf } from '../../client/errors';
import { GRPC } from '../../client/temporal-errors';
import { counted } from '../../policy/text/counted';
import { TASK_QUEUES } from '../../policy/contracts/queues';
import { SEARCH_ATTRIBUTES } from '../../policy/contracts/search-attributes';
import type { Env } from '../../workers/config';
import type { LocalClient } from '../../workers/local-client';
import { POLLED_MS, pollAge, pollBuild, QUEUE_TYPES, type DescribedQueue } from '../../workers/pollers';
import { openConnection } from '../../workers/temporal';
import { failed, passed, type Check } from './check';

const TIMEOUT_MS = 5_000;
const OLDEST = [1, 29, 1] as const;

type Call = <T>(work: () => Promise<T>) => Promise<T>;

export async function checkTemporal(
  local: LocalClient,
  env: Env,
  { offline }: { readonly offline: boolean },
): Promise<readonly Check[]> {
  let connection: Connection;
  try {
    connection = await openConnection({ ...env, TEMPORAL_ADDRESS: local.temporalAddress }, TIMEOUT_MS);
  } catch (error) {
    return [
      failed('Temporal server', `${local.temporalAddress}: ${messageOf(error)}`, 'Start it, or set TEMPORAL_ADDRESS'),
    ];
  }
  const bounded: Call = (work) => connection.withDeadline(Date.now() + TIMEOUT_MS, work);
  try {
    const { serverVersion } = await bounded(() => connection.workflowService.getSystemInfo({}));
    const suffix = env['COUNTERSIGN_QUEUE_SUFFIX'] ?? '';
    const namespace = await checkNamespace(connection, bounded, local.namespace);
    const queues =
      offline || !namespace.exists
        ? []
        : await Promise.all(
            Object.values(TASK_QUEUES).map((queue) => checkQueue(connection, bounded, local.namespace, queue + suffix)),
          );
    return [checkVersion(local.temporalAddress, serverVersion ?? ''), namespace.check, ...queues.flat()];
  } finally {
    await connection.close();
  }
}

/** Servers before 1.29.1 were not tested. A version that is not a number, as in a development build, passes. */
export function checkVersion(address: string, version: string): Check {
  const detail = `${address}, version ${version === '' ? 'unknown' : version}`;
  const numbers = version === '' ? [] : version.split('.').map(Number);
  const differing = OLDEST.findIndex((needed, i) => numbers[i] !== needed);
  const tooOld = differing >= 0 && (numbers[differing] ?? Number.NaN) < (OLDEST[differing] ?? 0);
  return tooOld
    ? failed('Temporal server', detail, `Upgrade it to ${OLDEST.join('.')} or later`)
    : passed('Temporal server', detail);
}

/** The queues of a namespace that does not exist are not worth a line each. */
async function checkNamespace(
  connection: Connection,
  bounded: Call,
  namespace: string,
): Promise<{ readonly check: Check; readonly exists: boolean }> {
  const name = `namespace ${namespace}`;
  try {
    const { customAttributes } = await bounded(() => connection.operatorService.listSearchAttributes({ namespace }));
    const missing = Object.keys(SEARCH_ATTRIBUTES).filter((each) => customAttributes?.[each] === undefined);
    const check =
      missing.length === 0
        ? passed(name, 'has the search attributes')
        : failed(name, `lacks the search attributes ${missing.join(', ')}`, 'Run "countersign setup"');
    return { check, exists: true };
  } catch (error) {
    const exists = (error as { readonly code?: unknown }).code !== GRPC.NOT_FOUND;
    const fix = exists
      ? 'Check what the Temporal server allows this client, and its log'
      : `Set TEMPORAL_NAMESPACE to that of the workers, or create it: temporal operator namespace create -n ${namespace} --retention 30d`;
    return { check: failed(name, messageOf(error), fix), exists };
  }
}

export async function checkQueue(
  connection: Pick<Connection, 'workflowService'>,
  bounded: Call,
  namespace: string,
  queue: string,
): Promise<readonly Check[]> {
  const name = `queue ${queue}`;
  const fix = 'Start the worker of this queue, for example with "countersign up"; reviews wait until then';
  const describe = (taskQueueType: number) =>
    bounded(() =>
      connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name: queue }, taskQueueType }),
    );
  try {
    const { pollers } = await describe(QUEUE_TYPES.activity);
    const now = Date.now();
    const ages = (pollers ?? []).map((poller) => pollAge(poller, now));
    return [queueCheck(name, ages, fix), ...checkBuilds(queue, await describe(QUEUE_TYPES.workflow))];
  } catch (error) {
    return [failed(name, messageOf(error), fix)];
  }
}

/** `ages`: milliseconds since the last poll of each poller. */
export function queueCheck(name: string, ages: readonly number[], fix: string): Check {
  const live = ages.filter((age) => age <= POLLED_MS).length;
  if (live > 0) return passed(name, counted(live, 'poller'));
  if (ages.length === 0) return failed(name, 'no worker polls it', fix);
  return failed(name, `the last poll was ${Math.round(Math.min(...ages) / 1000)} s ago`, fix);
}

/**
 * Whether a worker of the current build polls for workflows: the server gives new reviews to that build only, and to workers without a
 * build id while no build is current. Empty for a queue that no worker polls, and if no builds are used.
 */
export function checkBuilds(
  queue: string,
  { pollers, versioningInfo }: DescribedQueue,
  now = Date.now(),
): readonly Check[] {
  const current = versioningInfo?.currentDeploymentVersion?.buildId || null;
  const live = (pollers ?? []).filter((poller) => pollAge(poller, now) <= POLLED_MS);
  const polling = new Set(live.map(pollBuild));
  if (polling.size === 0 || (current === null && polling.has(null))) return [];
  const name = `builds of queue ${queue}`;
  const builds = [...polling].map((build) => build ?? 'without a build id').sort();
  const what = current === null ? 'no build is current' : `the current build is ${current}`;
  const detail = `${what}; workers that poll: ${builds.join(', ')}`;
  if (polling.has(current)) return [passed(name, detail)];
  const set = `temporal worker deployment set-current-version --deployment-name ${queue} --build-id BUILD`;
  const start = current === null ? '' : `Start a review worker with COUNTERSIGN_BUILD_ID=${current}, or: `;
  return [failed(name, `${detail}; new reviews wait`, `${start}${set}`)];
}
