import { POLLED_MS, pollAge, pollBuild, type DescribedQueue } from '../../workers/pollers';
import { failed, passed, type Check } from './check';

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
