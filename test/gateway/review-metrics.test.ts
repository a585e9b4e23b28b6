import { Registry } from 'prom-client';
import { createGatewayMetrics, createMetricsApp } from '../../gateway/metrics';
import { MAX_AGE_MS, ReviewMetrics, type ReviewMetricsDeps } from '../../gateway/review-metrics';
import { REPAIR_ACTIONS } from '../../policy/contracts/ledger';
import type { TailedRow } from '../../storage/ledger/tail';
import { figures } from './figures';

const row = (kind: TailedRow['kind'], body: object | null): TailedRow => ({
  kind,
  body: body === null ? null : JSON.stringify(body),
  secondsSinceDisclosed: null,
});

const judgeQueue: ReviewMetricsDeps['queues'] = async () => [
  { queue: 'judge', type: 'activity', pollers: 2, backlog: 7 },
];

function world(overrides: Partial<ReviewMetricsDeps> = {}) {
  const clock = { now: 1_000_000 };
  const warned: string[] = [];
  const registry = new Registry();
  const metrics = new ReviewMetrics(registry, {
    openReviews: async () => [{ state: 'INTERVENTION_REQUIRED', count: 3, oldestSeconds: 90 }],
    oldestUncovered: async () => null,
    nextRows: async () => ({ rows: [], more: false }),
    queues: judgeQueue,
    now: () => clock.now,
    log: { warn: (_facts, message) => void warned.push(message) },
    ...overrides,
  });
  return { clock, warned, registry, metrics, read: () => figures(registry) };
}

it('asks each source at most once in ten seconds, also for scrapes at the same time', async () => {
  let asked = 0;
  const { clock, metrics } = world({ openReviews: async () => (asked++, []) });
  await Promise.all([metrics.refresh(), metrics.refresh()]);
  clock.now += MAX_AGE_MS - 1;
  await metrics.refresh();
  expect(asked).toBe(1);
  clock.now += 1;
  await metrics.refresh();
  expect(asked).toBe(2);
});

it('does not read rows twice at once if a refresh takes longer than ten seconds', async () => {
  let [running, most] = [0, 0];
  const { clock, metrics } = world({
    nextRows: async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running--;
      return { rows: [], more: false };
    },
  });
  const first = metrics.refresh();
  clock.now += MAX_AGE_MS;
  await Promise.all([first, metrics.refresh()]);
  expect(most).toBe(1);
});

it('removes the gauges of a source that fails, names it, and goes on with the other', async () => {
  let down = false;
  const { clock, metrics, read, warned } = world({
    queues: () => (down ? Promise.reject(new Error('14 UNAVAILABLE')) : judgeQueue()),
  });
  await metrics.refresh();
  expect(await read()).toMatchObject({
    'countersign_queue_pollers{queue="judge",type="activity"}': 2,
    'countersign_queue_backlog{queue="judge",type="activity"}': 7,
    'countersign_source_up{source="temporal"}': 1,
  });
  down = true;
  clock.now += MAX_AGE_MS;
  await metrics.refresh();
  const after = await read();
  expect(Object.keys(after).filter((name) => name.startsWith('countersign_queue_'))).toEqual([]);
  expect(after).toMatchObject({
    'countersign_source_up{source="temporal"}': 0,
    'countersign_source_up{source="database"}': 1,
    'countersign_open_reviews{state="INTERVENTION_REQUIRED"}': 3,
  });
  expect(warned).toEqual(['Metrics of reviews could not be read']);
});

it('gives the age of the first row without a checkpoint, and 0 if checkpoints cover all rows', async () => {
  let first: string | null = null;
  const { clock, metrics, read } = world({ oldestUncovered: async () => first });
  await metrics.refresh();
  expect(await read()).toMatchObject({ countersign_uncovered_seconds: 0 });
  first = new Date(clock.now - 600_000).toISOString();
  clock.now += MAX_AGE_MS;
  await metrics.refresh();
  expect(await read()).toMatchObject({ countersign_uncovered_seconds: 610 });
});

it('has no backlog if the server does not report it', async () => {
  const { metrics, read } = world({
    queues: async () => [{ queue: 'review', type: 'workflow', pollers: 0, backlog: null }],
  });
  await metrics.refresh();
  const after = await read();
  expect(after['countersign_queue_pollers{queue="review",type="workflow"}']).toBe(0);
  expect(Object.keys(after).filter((name) => name.startsWith('countersign_queue_backlog{'))).toEqual([]);
});

it('counts each repair by what was done', async () => {
  const rows = REPAIR_ACTIONS.map((did) => row('repaired', { did }));
  const { metrics, read } = world({ nextRows: async () => ({ rows, more: false }) });
  await metrics.refresh();
  const counted = await read();
  for (const did of REPAIR_ACTIONS) expect(counted[`countersign_repairs_total{did="${did}"}`]).toBe(1);
  expect(counted['countersign_repairs_total{did="other"}']).toBe(0);
});

it('counts a row whose body is not JSON, and the rows after it', async () => {
  const damaged = { ...row('repaired', {}), body: '{' };
  const rows = [damaged, row('repaired', { did: 'woken' })];
  const { metrics, read } = world({ nextRows: async () => ({ rows, more: false }) });
  await metrics.refresh();
  expect(await read()).toMatchObject({
    'countersign_repairs_total{did="other"}': 1,
    'countersign_repairs_total{did="woken"}': 1,
  });
});

it('makes no label from the text of a row', async () => {
  const rows = [
    row('answer_refused', { code: 'evil"} 1' }),
    row('closed', { state: 'WON', reason: 'x'.repeat(500) }),
    row('repaired', { did: 'hacked' }),
    row('refused', { check: 'history_damaged', explanation: 'evil' }),
    row('refused', { check: 'stage', explanation: 'evil' }),
    row('attested', { envelope: { payload: '?' } }),
    row('attested', null),
  ];
  const { metrics, registry, read } = world({ nextRows: async () => ({ rows, more: false }) });
  await metrics.refresh();
  expect(await read()).toMatchObject({
    'countersign_answers_refused_total{code="other"}': 1,
    'countersign_reviews_ended_total{state="other",reason="none"}': 1,
    'countersign_repairs_total{did="other"}': 1,
    countersign_damaged_histories_total: 1,
    'countersign_judgements_total{verdict="unreadable"}': 2,
  });
  expect(await registry.metrics()).not.toMatch(/evil|WON|xxx|hacked/);
});

it('reads a bounded number of pages in one refresh and goes on in the next', async () => {
  let pages = 50;
  const { clock, metrics, read } = world({
    nextRows: async () => ({ rows: [row('answer_refused', { code: 'expired' })], more: --pages > 0 }),
  });
  const counted = async (): Promise<number | undefined> =>
    (await read())['countersign_answers_refused_total{code="expired"}'];
  await metrics.refresh();
  expect(await counted()).toBe(20);
  for (let i = 0; i < 2; i++) {
    clock.now += MAX_AGE_MS;
    await metrics.refresh();
  }
  expect(await counted()).toBe(50);
});

it('stops after the page with which two seconds have passed', async () => {
  let pages = 0;
  const { clock, metrics } = world({
    nextRows: async () => {
      clock.now += 1_500;
      return { rows: [], more: ++pages < 50 };
    },
  });
  await metrics.refresh();
  expect(pages).toBe(2);
});

it('brings the figures up to date before a scrape is answered', async () => {
  const gateway = createGatewayMetrics();
  let refreshed = 0;
  const app = createMetricsApp(gateway, async () => void refreshed++);
  const text = await (await app.request('http://gateway/metrics')).text();
  expect(refreshed).toBe(1);
  expect(text).toContain('countersign_gateway_refused_total{why="unauthenticated"} 0');
});
