/** Counters on the metrics port of a worker, in addition to the metrics of the SDK. */
import { Runtime } from '@temporalio/worker';
import type { DeliveryDeps } from './notices/deliver-notices';
import type { ReconcilerOptions } from './reconciler/repairs';

export function noticeMetrics(): DeliveryDeps['count'] {
  const add = counter('countersign_notices', 'notices', 'Notices by channel and by what became of them');
  return (channel, result, count) => add(count, { channel, result });
}

export function reconcilerMetrics(): ReconcilerOptions['count'] {
  const what = 'Reviews whose workflow had a problem, by what was found and what was done';
  const add = counter('countersign_reconciler_reviews', 'reviews', what);
  return (event) => add(1, event);
}

/** The runtime exists only once the worker starts, hence the late look-up. */
function counter(
  name: string,
  unit: string,
  description: string,
): (count: number, tags: Readonly<Record<string, string>>) => void {
  let created: ReturnType<(typeof Runtime)['prototype']['metricMeter']['createCounter']> | undefined;
  return (count, tags) => {
    created ??= Runtime.instance().metricMeter.createCounter(name, unit, description);
    created.add(count, tags);
  };
}
