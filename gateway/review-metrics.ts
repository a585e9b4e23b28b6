/**
 * Metrics of reviews, from rows of ledger and projection and from the task queues. Never from workflows, which someone with access to the
 * namespace could end or invent. A row's signature is not verified here: the figures are for alerts, they decide nothing.
 *
 * X1 Labels are members of closed lists. A value that is not in its list is counted as `other`.
 * X2 Counters have all their series from the start, with 0: Prometheus would not see the first increment of a new series.
 * X3 Sources are asked at most once in MAX_AGE_MS, with bounded queries. A source that fails has `countersign_source_up` 0 and no gauges,
 *    never old ones.
 */
import type { WorkerRole } from '../policy/contracts/queues';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { AnswerCode } from '../policy/contracts/answer';
import { RollbackReason, TerminalState } from '../policy/contracts/outcome';
import { REPAIR_ACTIONS, type LedgerKind } from '../policy/contracts/ledger';
import { JUDGE_CAUSES } from '../policy/decide/judge-failure';
import type { OpenReviews } from '../storage/ledger/open-reviews';
import type { TailedRow } from '../storage/ledger/tail';
import { FreshReading } from './fresh-reading';
import { eventOf, JUDGE_VERDICTS } from './row-event';

export interface QueueState {
  readonly queue: WorkerRole;
  readonly type: 'workflow' | 'activity';
  readonly pollers: number;
  /** Tasks that wait; null if the server does not report it. */
  readonly backlog: number | null;
}

export interface ReviewMetricsDeps {
  readonly openReviews: () => Promise<readonly OpenReviews[]>;
  /** The time of the first row that no checkpoint covers; null if every row is covered. */
  readonly oldestUncovered: () => Promise<string | null>;
  /** Rows of COUNTED_KINDS since the last call. `more`: there are further ones. */
  readonly nextRows: () => Promise<{ readonly rows: readonly TailedRow[]; readonly more: boolean }>;
  readonly queues: () => Promise<readonly QueueState[]>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: { readonly warn: (facts: object, message: string) => void };
}

export const COUNTED_KINDS = [
  'answer_accepted',
  'answer_refused',
  'attested',
  'closed',
  'refused',
  'repaired',
] as const satisfies readonly LedgerKind[];

export const MAX_AGE_MS = 10_000;
/** Pages of rows for one refresh, and the time for them; the next refresh goes on with the rest. Prometheus waits 10 s for a scrape. */
const MAX_PAGES = 20;
const MAX_PAGES_MS = 2_000;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Source = 'database' | 'temporal';

export class ReviewMetrics {
  readonly #series: Series;
  readonly #reading: FreshReading<void>;
  #last = Promise.resolve();

  constructor(
    registry: Registry,
    private readonly deps: ReviewMetricsDeps,
  ) {
    this.#series = createSeries(registry);
    // Each after the one before: two at once would read the same rows.
    this.#reading = new FreshReading(() => (this.#last = this.#last.then(() => this.#readAll())), MAX_AGE_MS, deps.now);
  }

  /** Brings the metrics up to date. Never rejects: a source that fails is logged, and its `countersign_source_up` is 0. */
  async refresh(): Promise<void> {
    await this.#reading.get();
  }

  async #readAll(): Promise<void> {
    const { openReviews, oldest, uncovered, pollers, backlog } = this.#series;
    await Promise.all([
      this.#read('database', [openReviews, oldest, uncovered], () => this.#readDatabase()),
      this.#read('temporal', [pollers, backlog], () => this.#readQueues()),
    ]);
  }

  async #read(source: Source, gauges: readonly Gauge[], read: () => Promise<void>): Promise<void> {
    try {
      await read();
      this.#series.up.set({ source }, 1);
    } catch (error) {
      // Whatever the failure is, the figures of this source are unknown now.
      for (const gauge of gauges) gauge.reset();
      this.#series.up.set({ source }, 0);
      this.deps.log.warn({ source, error: String(error) }, 'Metrics of reviews could not be read');
    }
  }

  async #readDatabase(): Promise<void> {
    const { openReviews, oldest, uncovered } = this.#series;
    const first = await this.deps.oldestUncovered();
    uncovered.set(first === null ? 0 : Math.max(0, this.deps.now() - Date.parse(first)) / 1000);
    for (const { state, count, oldestSeconds } of await this.deps.openReviews()) {
      openReviews.set({ state }, count);
      oldest.set({ state }, oldestSeconds);
    }
    const until = this.deps.now() + MAX_PAGES_MS;
    for (let page = 0; page < MAX_PAGES && this.deps.now() <= until; page++) {
      const { rows, more } = await this.deps.nextRows();
      for (const row of rows) count(this.#series, row);
      if (!more) return;
    }
  }

  async #readQueues(): Promise<void> {
    const { pollers, backlog } = this.#series;
    const states = await this.deps.queues();
    backlog.reset();
    for (const { queue, type, ...state } of states) {
      pollers.set({ queue, type }, state.pollers);
      if (state.backlog !== null) backlog.set({ queue, type }, state.backlog);
    }
  }
}

function count(series: Series, row: TailedRow): void {
  const event = eventOf(row);
  switch (event.kind) {
    case 'answered':
      if (event.seconds !== null) series.timeToAnswer.observe(event.seconds);
      return;
    case 'refused':
      return series.refused.inc({ code: event.code });
    case 'ended':
      return series.ended.inc({ state: event.state, reason: event.reason });
    case 'history_damaged':
      return series.damaged.inc();
    case 'repaired':
      return series.repairs.inc({ did: event.did });
    case 'judged':
      series.judgements.inc({ verdict: event.verdict });
      if (event.cause !== null) series.judgeFailures.inc({ cause: event.cause });
      if (event.costMicros !== null) series.judgeCost.inc(event.costMicros);
      else if (event.cause === null) series.judgeCostUnknown.inc();
      return;
    case 'other':
      return;
    default:
      return event satisfies never;
  }
}

type Series = ReturnType<typeof createSeries>;

function createSeries(registry: Registry) {
  const registers = [registry];
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> =>
    new Gauge({ name: `countersign_${name}`, help, labelNames, registers });
  const counter = <L extends string>(name: string, help: string, labelNames: L[]): Counter<L> =>
    new Counter({ name: `countersign_${name}_total`, help, labelNames, registers });
  const series = {
    openReviews: gauge('open_reviews', 'Open reviews by state, at most 10000 of each', ['state']),
    oldest: gauge('oldest_open_seconds', 'Age of the oldest open review by state, 0 if there are none', ['state']),
    uncovered: gauge('uncovered_seconds', 'Age of the first ledger row that no checkpoint covers, 0 if all are', []),
    pollers: gauge('queue_pollers', 'Workers that polled the task queue in the last two minutes', ['queue', 'type']),
    backlog: gauge('queue_backlog', 'Tasks that wait in the task queue, as Temporal reports it', ['queue', 'type']),
    up: gauge('source_up', '1 if the source of the review metrics answered', ['source']),
    timeToAnswer: new Histogram({
      name: 'countersign_time_to_answer_seconds',
      help: 'From the disclosure of violations to each accepted answer',
      buckets: [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, DAY, 3 * DAY, 7 * DAY],
      registers,
    }),
    ended: counter('reviews_ended', 'Reviews that ended, by state and reason', ['state', 'reason']),
    refused: counter('answers_refused', 'Refused answers in the ledger by code, without repeats', ['code']),
    judgements: counter('judgements', 'Records of the judge by verdict', ['verdict']),
    judgeFailures: counter('judge_failures', 'Judgements that failed, by cause', ['cause']),
    judgeCost: counter('judge_cost_micros', 'Cost in millionths of the unit of the price table', []),
    judgeCostUnknown: counter('judge_cost_unknown', 'Judgements whose cost is unknown', []),
    repairs: counter(
      'repairs',
      'Workflows that the reconciler woke or reset, reviews that it ended, and workflows that it terminated after their reviews had ended',
      ['did'],
    ),
    damaged: counter('damaged_histories', 'Reviews whose history does not replay', []),
  } as const;
  series.ended.inc({ state: 'COMMITTED', reason: 'none' }, 0);
  for (const state of TerminalState.exclude(['COMMITTED']).options)
    for (const reason of RollbackReason.options) series.ended.inc({ state, reason }, 0);
  for (const code of AnswerCode.options) series.refused.inc({ code }, 0);
  for (const verdict of JUDGE_VERDICTS) series.judgements.inc({ verdict }, 0);
  for (const cause of [...JUDGE_CAUSES, 'other']) series.judgeFailures.inc({ cause }, 0);
  for (const did of [...REPAIR_ACTIONS, 'other']) series.repairs.inc({ did }, 0);
  return series;
}
