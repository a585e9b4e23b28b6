import { memoryByProcess } from './process-memory';

/** The review worker at one moment. */
interface WorkerSample {
  readonly seconds: number;
  readonly open: number;
  /** Workflows in its memory. */
  readonly cached: number;
  /** Workflows that left its memory since its start. */
  readonly evictions: number;
  /** Resident memory in MiB. */
  readonly memoryMiB: number;
}

const EVERY_MS = 10_000;

/** Samples cache and memory of the review worker until `stop`, which takes a last sample and returns all, or `cancel`. */
export function watchWorker(
  pid: number,
  metricsPort: number,
  open: () => number,
): { readonly stop: () => Promise<readonly WorkerSample[]>; readonly cancel: () => Promise<void> } {
  const began = performance.now();
  const samples: WorkerSample[] = [];
  const sample = async (): Promise<void> => {
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    samples.push({
      seconds: Math.round((performance.now() - began) / 1000),
      open: open(),
      cached: sumOf(metrics, 'temporal_sticky_cache_size'),
      evictions: sumOf(metrics, 'temporal_sticky_cache_total_forced_eviction'),
      memoryMiB: memoryByProcess({ review: pid })['review']?.now ?? 0,
    });
  };
  let last = sample();
  const timer = setInterval(() => void (last = last.then(sample)), EVERY_MS);
  const cancel = async (): Promise<void> => {
    clearInterval(timer);
    await last;
  };
  return {
    cancel,
    async stop() {
      await cancel();
      await sample();
      return samples;
    },
  };
}

/** Sum over all labels of one metric in the text format of Prometheus; 0 before its first value. */
function sumOf(metrics: string, name: string): number {
  return metrics
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `) || line.startsWith(`${name}_total{`))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
