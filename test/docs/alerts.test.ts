import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { createGatewayMetrics } from '../../gateway/metrics';
import { ReviewMetrics } from '../../gateway/review-metrics';
import { ROOT } from '../support/root';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const Duration = z.string().regex(/^[1-9]\d*[smhd]$/);
const Alert = z.strictObject({
  alert: z.string().regex(/^Countersign[A-Z][A-Za-z]+$/),
  expr: z.string().min(1),
  for: Duration.optional(),
  labels: z.strictObject({ severity: z.enum(['warning', 'critical']) }),
  annotations: z.strictObject({ summary: z.string().min(1), description: z.string().min(1) }),
});
/** https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/ */
const RuleFile = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string().min(1), rules: z.array(Alert).min(1) })).length(1),
});

/** The members of Grafana's dashboard JSON that this dashboard has. */
const Panel = z.strictObject({
  id: z.int().min(1),
  title: z.string().min(1),
  type: z.enum(['timeseries', 'stat']),
  datasource: z.strictObject({ type: z.literal('prometheus'), uid: z.literal('${datasource}') }),
  gridPos: z.strictObject({
    h: z.int().min(1),
    w: z.int().min(1).max(24),
    x: z.int().min(0).max(23),
    y: z.int().min(0),
  }),
  fieldConfig: z.object({ defaults: z.object({ unit: z.string() }), overrides: z.array(z.unknown()) }),
  targets: z
    .array(z.strictObject({ refId: z.string().regex(/^[A-Z]$/), expr: z.string().min(1), legendFormat: z.string() }))
    .min(1),
});
const Dashboard = z.object({
  title: z.literal('Countersign'),
  uid: z.string().max(40),
  schemaVersion: z.int().min(36),
  templating: z.object({ list: z.array(z.object({ name: z.literal('datasource'), type: z.literal('datasource') })) }),
  panels: z.array(Panel).min(1),
});

const rules = RuleFile.parse(parse(read('deploy/prometheus/alerts.yaml'))).groups.flatMap((group) => group.rules);
const dashboard = Dashboard.parse(JSON.parse(read('deploy/grafana/countersign.json')));
const panelExpressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
const expressions = [...rules.map(({ expr }) => expr), ...panelExpressions];

/** Labels by the name of each series that the gateway's registry exports. */
async function exported(): Promise<ReadonlyMap<string, readonly string[]>> {
  const metrics = createGatewayMetrics();
  const never = (): Promise<never> => Promise.reject(new Error('not read here'));
  const log = { warn: () => undefined };
  const deps = { openReviews: never, oldestUncovered: never, nextRows: never, queues: never, now: Date.now, log };
  await new ReviewMetrics(metrics.registry, deps).refresh();
  const names = new Map<string, readonly string[]>();
  for (const metric of await metrics.registry.getMetricsAsJSON()) {
    const { labelNames } = z
      .object({ labelNames: z.array(z.string()) })
      .parse(metrics.registry.getSingleMetric(metric.name));
    // prom-client declares the enum as ambient; at run time it is the text that the exposition format has.
    if (String(metric.type) === 'histogram')
      for (const part of ['_bucket', '_sum', '_count']) names.set(metric.name + part, [...labelNames, 'le']);
    else names.set(metric.name, labelNames);
  }
  return names;
}

/** Added by Prometheus when it scrapes. */
const OF_SCRAPE = ['instance', 'job'];

test('every metric and label that an alert or a panel uses is exported', async () => {
  const known = await exported();
  for (const expr of expressions) {
    const names = expr.match(/\bcountersign_[a-z_]+/g) ?? [];
    expect([expr, names.filter((name) => !known.has(name))]).toEqual([expr, []]);
    expect(names).toHaveLength(1);
    const labels = [
      ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', ')),
      ...[...expr.matchAll(/([a-z]+)="/g)].map(([, label = '']) => label),
    ];
    const allowed = [...(known.get(names[0] ?? '') ?? []), ...OF_SCRAPE];
    expect([expr, labels.filter((label) => !allowed.includes(label))]).toEqual([expr, []]);
  }
});

test('expressions are balanced, and use only functions that Prometheus has', () => {
  const functions = ['max', 'min', 'sum', 'by', 'increase', 'rate', 'histogram_quantile', 'absent'];
  for (const expr of expressions) {
    for (const [open, close] of ['()', '{}', '[]'].map((pair) => [...pair] as [string, string]))
      expect([expr, expr.split(open).length]).toEqual([expr, expr.split(close).length]);
    const called = [...expr.matchAll(/([a-z_]+) ?\(/g)].map(([, name = '']) => name);
    expect([expr, called.filter((name) => !functions.includes(name))]).toEqual([expr, []]);
    for (const [, range = ''] of expr.matchAll(/\[([^\]]*)\]/g)) expect(Duration.safeParse(range).success).toBe(true);
  }
});

test('names of alerts and ids of panels are unique, and each label in a legend or summary is in its expression', () => {
  const names = rules.map(({ alert }) => alert);
  expect(new Set(names).size).toBe(names.length);
  const ids = dashboard.panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const texts = [
    ...rules.map(({ expr, annotations }) => [expr, annotations.summary] as const),
    ...dashboard.panels.flatMap(({ targets }) => targets.map((t) => [t.expr, t.legendFormat] as const)),
  ];
  for (const [expr, text] of texts) {
    const used = [...text.matchAll(/\{\{ ?(?:\$labels\.)?([a-z]+) ?\}\}/g)].map(([, label = '']) => label);
    const kept = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
    expect([text, used.filter((label) => !kept.includes(label))]).toEqual([text, []]);
  }
});

test('docs/operate.md names every metric of the gateway and every alert, and no other', async () => {
  const page = read('docs/operate.md');
  const section = page.slice(page.indexOf('\n## Metrics and alerts'), page.indexOf('\n## Who can write'));
  const first = (line: string): string => /^\| `(\w+)/.exec(line)?.[1] ?? '';
  const listed = section
    .split('\n')
    .map(first)
    .filter((name) => name !== '');
  const series = [...(await exported()).keys()].map((name) => name.replace(/_(bucket|sum|count)$/, ''));
  expect(listed.filter((name) => name.startsWith('countersign_')).sort()).toEqual([...new Set(series)].sort());
  expect(listed.filter((name) => !name.startsWith('countersign_'))).toEqual(rules.map(({ alert }) => alert));
});
