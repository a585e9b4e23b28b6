import { Runtime } from '@temporalio/worker';

/** What became of notices in one attempt to send them. */
export type NoticeResult = 'sent' | 'retried' | 'failed';

/** Counts on the metrics port of the review worker. The runtime exists only once the worker starts, hence the late look-up. */
export function noticeMetrics(): (channel: string, result: NoticeResult, count: number) => void {
  let counter: ReturnType<(typeof Runtime)['prototype']['metricMeter']['createCounter']> | undefined;
  return (channel, result, count) => {
    counter ??= Runtime.instance().metricMeter.createCounter(
      'countersign_notices',
      'notices',
      'Notices by channel and by what became of them',
    );
    counter.add(count, { channel, result });
  };
}
