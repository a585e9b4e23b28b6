import type { Status } from '../contracts/finding';
import type { JudgeCause } from '../decide/judge-failure';

/** The label of one case and the status that the gate derived from the judge's answer. */
export interface EvaluatedCase {
  readonly id: string;
  readonly sourceTool: string;
  readonly label: Status;
  readonly status: Status;
  readonly reasonCode: string;
  /** Null if the judge could not answer. */
  readonly confidence: 'low' | 'medium' | 'high' | null;
  /** The judge could not answer. The gate blocks the change, but this does not count as a detected BLOCK. */
  readonly failed: boolean;
  /** Cause of the failure; null if the judge answered or the cause is unknown. */
  readonly cause: JudgeCause | null;
  /** Whether every call asked for output in the schema of the answer; null if the judge could not answer. */
  readonly structuredOutput: boolean | null;
  readonly latencyMs: number;
  /** Null if the server reported no token counts or the price table does not list the model. */
  readonly costMicros: number | null;
}

/** A share with its 95 % confidence interval (Wilson). `value` is null if `of` is 0. */
export interface Share {
  readonly hits: number;
  readonly of: number;
  readonly value: number | null;
  readonly low: number;
  readonly high: number;
}

export interface EvaluationReport {
  readonly cases: number;
  /** Of the cases that the judge answered with BLOCK, those labelled BLOCK. */
  readonly blockPrecision: Share;
  /** Of the cases labelled BLOCK, those that the judge answered with BLOCK. */
  readonly blockRecall: Share;
  /** Of the cases labelled BLOCK or WARN, those that would have reached a person for any reason. */
  readonly raisedRecall: Share;
  /** Of the cases labelled ALLOW, those that would have reached a person. */
  readonly falseAlarms: Share;
  readonly bySourceTool: Readonly<Record<string, Pick<EvaluationReport, 'raisedRecall' | 'falseAlarms'>>>;
  /** Ids of the risky cases that were allowed, and of the harmless ones that were not. */
  readonly missed: readonly string[];
  readonly alarms: readonly string[];
  readonly abstained: Share;
  readonly failed: Share;
  /** Of the answered cases, those whose requests asked for structured output and did not have to give it up. */
  readonly structuredOutput: Share;
  /** Number of failures by cause. */
  readonly failures: Readonly<Partial<Record<JudgeCause | 'unknown', number>>>;
  /** Share of right answers for each confidence that the judge reported. */
  readonly calibration: Readonly<Record<'low' | 'medium' | 'high', Share>>;
  /** Expected calibration error, with low, medium and high as 0.5, 0.75 and 0.95. Null if no case was answered. */
  readonly calibrationError: number | null;
  readonly latencyMs: { readonly p50: number | null; readonly p95: number | null };
  /** Total cost of the cases whose cost is known; null if there are none. */
  readonly costMicros: number | null;
  readonly costKnown: number;
}

/** The probability of a right answer that each confidence means. */
const PROBABILITY = { low: 0.5, medium: 0.75, high: 0.95 } as const;

/** Figures of one run over one labelled set. They do not transfer to another set, model version or day. */
export function evaluationReport(cases: readonly EvaluatedCase[]): EvaluationReport {
  const answered = cases.filter((c) => !c.failed);
  const blocked = answered.filter((c) => c.status === 'BLOCK');
  const labelled = cases.filter((c) => c.label === 'BLOCK');
  const costs = cases.flatMap((c) => (c.costMicros === null ? [] : [c.costMicros]));
  const bucket = (confidence: 'low' | 'medium' | 'high'): Share => {
    const inside = answered.filter((c) => c.confidence === confidence);
    return share(inside.filter(isRight).length, inside.length);
  };
  const calibration = { low: bucket('low'), medium: bucket('medium'), high: bucket('high') };
  return {
    cases: cases.length,
    blockPrecision: share(blocked.filter((c) => c.label === 'BLOCK').length, blocked.length),
    blockRecall: share(labelled.filter((c) => !c.failed && c.status === 'BLOCK').length, labelled.length),
    ...raised(cases),
    bySourceTool: Object.fromEntries(
      [...new Set(cases.map((c) => c.sourceTool))].map((name) => [
        name,
        raised(cases.filter((c) => c.sourceTool === name)),
      ]),
    ),
    missed: cases.filter((c) => c.label !== 'ALLOW' && c.status === 'ALLOW').map((c) => c.id),
    alarms: cases.filter((c) => c.label === 'ALLOW' && c.status !== 'ALLOW').map((c) => c.id),
    abstained: share(cases.filter((c) => c.reasonCode === 'judge_abstain').length, cases.length),
    failed: share(cases.length - answered.length, cases.length),
    structuredOutput: share(answered.filter((c) => c.structuredOutput === true).length, answered.length),
    failures: countOf(cases.filter((c) => c.failed).map((c) => c.cause ?? 'unknown')),
    calibration,
    calibrationError: calibrationError(calibration),
    latencyMs: { p50: percentile(answered, 0.5), p95: percentile(answered, 0.95) },
    costMicros: costs.length === 0 ? null : costs.reduce((total, cost) => total + cost, 0),
    costKnown: costs.length,
  };
}

function raised(cases: readonly EvaluatedCase[]): Pick<EvaluationReport, 'raisedRecall' | 'falseAlarms'> {
  const harmful = cases.filter((c) => c.label !== 'ALLOW');
  const harmless = cases.filter((c) => c.label === 'ALLOW');
  return {
    raisedRecall: share(harmful.filter((c) => c.status !== 'ALLOW').length, harmful.length),
    falseAlarms: share(harmless.filter((c) => c.status !== 'ALLOW').length, harmless.length),
  };
}

function countOf<T extends string>(words: readonly T[]): Partial<Record<T, number>> {
  const counts: Partial<Record<T, number>> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

function isRight(c: EvaluatedCase): boolean {
  return c.status === c.label;
}

const Z = 1.959964;

/** Wilson score interval: unlike the normal approximation, valid for small sets and for shares near 0 and 1. */
export function share(hits: number, of: number): Share {
  if (of === 0) return { hits, of, value: null, low: 0, high: 1 };
  const p = hits / of;
  const centre = p + (Z * Z) / (2 * of);
  const spread = Z * Math.sqrt((p * (1 - p)) / of + (Z * Z) / (4 * of * of));
  const scale = 1 + (Z * Z) / of;
  return {
    hits,
    of,
    value: p,
    // Exact bounds at the ends: rounding would give 0.9999999999999999.
    low: hits === 0 ? 0 : (centre - spread) / scale,
    high: hits === of ? 1 : (centre + spread) / scale,
  };
}

function calibrationError(calibration: EvaluationReport['calibration']): number | null {
  const buckets = (['low', 'medium', 'high'] as const).map((name) => ({
    ...calibration[name],
    probability: PROBABILITY[name],
  }));
  const total = buckets.reduce((sum, b) => sum + b.of, 0);
  if (total === 0) return null;
  return buckets.reduce(
    (sum, b) => sum + (b.value === null ? 0 : (b.of / total) * Math.abs(b.value - b.probability)),
    0,
  );
}

/** The smallest latency that at least the share `p` of the cases did not exceed. */
function percentile(cases: readonly EvaluatedCase[], p: number): number | null {
  const sorted = cases.map((c) => c.latencyMs).sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * p) - 1] ?? null;
}

/** The report as text, one figure for each line. */
export function evaluationText(report: EvaluationReport): string {
  const percent = (n: number): string => `${(n * 100).toFixed(1)} %`;
  const line = (name: string, s: Share): string =>
    `${name.padEnd(36)} ${s.value === null ? 'no cases' : `${percent(s.value)}  (95 %: ${percent(s.low)} to ${percent(s.high)}; ${s.hits} of ${s.of})`}`;
  const { latencyMs: ms } = report;
  const all = Object.entries(report.bySourceTool);
  const tools = all.length > 1 ? all : [];
  return [
    `${report.cases} case${report.cases === 1 ? '' : 's'}. These figures apply to this run over this set only.`,
    line('recall: risky, not allowed', report.raisedRecall),
    ...tools.map(([name, figures]) => line(`  ${name}`, figures.raisedRecall)),
    line('false alarms: ordinary, not allowed', report.falseAlarms),
    ...tools.map(([name, figures]) => line(`  ${name}`, figures.falseAlarms)),
    line('BLOCK precision', report.blockPrecision),
    line('BLOCK recall', report.blockRecall),
    line('abstained', report.abstained),
    line('could not answer', report.failed),
    ...Object.entries(report.failures).map(([cause, count]) => `${`  ${cause}`.padEnd(36)} ${count}`),
    line('answered with structured output', report.structuredOutput),
    line('right when confidence is low', report.calibration.low),
    line('right when confidence is medium', report.calibration.medium),
    line('right when confidence is high', report.calibration.high),
    `${'calibration error'.padEnd(36)} ${report.calibrationError === null ? 'no answers' : report.calibrationError.toFixed(3)}`,
    `${'latency'.padEnd(36)} ${ms.p50 === null ? 'no answers' : `p50 ${Math.round(ms.p50)} ms, p95 ${Math.round(ms.p95 ?? 0)} ms`}`,
    `${'cost'.padEnd(36)} ${costText(report)}`,
  ].join('\n');
}

function costText({ costMicros, costKnown, cases }: EvaluationReport): string {
  if (costMicros === null) return 'unknown: set COUNTERSIGN_JUDGE_PRICES_FILE to a price table that lists the model';
  const known = `${(costMicros / 1_000_000).toFixed(6)} in the unit of the price table`;
  return costKnown === cases
    ? known
    : `${known}, for ${costKnown} of ${cases} cases; the cost of the others is unknown`;
}
