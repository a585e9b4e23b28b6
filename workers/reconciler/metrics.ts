import { Runtime } from '@temporalio/worker';
import type { ReconcilerOptions } from './repairs';

/** Counts on the metrics port of the committer. The runtime exists only once the worker starts, hence the late look-up. */
export function reconcilerMetrics(): ReconcilerOptions['count'] {
  let counter: ReturnType<(typeof Runtime)['prototype']['metricMeter']['createCounter']> | undefined;
  return ({ found, did }) => {
    counter ??= Runtime.instance().metricMeter.createCounter(
      'countersign_reconciler_reviews',
      'reviews',
      'Reviews whose workflow had a problem, by what was found and what was done',
    );
    counter.add(1, { found, did });
  };
}
