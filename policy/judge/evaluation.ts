import type { Status } from '../contracts/finding';
import type { JudgeCause } from '../decide/judge-failure';

/** What was expected of one case, and what the gate made of the judge's answer. */
export interface EvaluatedCase {
  readonly id: string;
  readonly label: Status;
  readonly status: Status;
  readonly reasonCode: string;
  /** Null where the judge could not answer. */
  readonly confidence: 'low' | 'medium' | 'high' | null;
  /** It could not answer: the gate blocks, and that is no hit. */
  readonly failed: boolean;
  /** Why it could not; null where it answered, or nobody knows. */
  readonly cause: JudgeCause | null;
  readonly latencyMs: number;
  /** Null where the server named no tokens, or the price table no such model. */
  readonly costMicros: number | null;
}

/** A share with its 95 % confidence interval (Wilson). `value` is null where there is nothing to take a share of. */
export interface Share {
  readonly hits: number;
  readonly of: number;
  readonly value: number | null;
  readonly low: number;
  readonly high: number;
}

export interface EvaluationReport {
  readonly cases: number;
  /** Of the cases where the judge said BLOCK, those labelled BLOCK. */
  readonly blockPrecision: Share;
  /** Of the cases labelled BLOCK, those where the judge said BLOCK. */
  readonly blockRecall: Share;
  /** Of the cases labelled BLOCK or WARN, those that would have reached a person, for whatever reason. */
  readonly raisedRecall: Share;
  /** Of the cases labelled ALLOW, those that would have reached a person. */
  readonly falseAlarms: Share;
  readonly abstained: Share;
  readonly failed: Share;
  /** How often each cause kept it from answering. */
  readonly failures: Readonly<Partial<Record<JudgeCause | 'unknown', number>>>;
  /** For each confidence the judge named: how often it was right. */
  readonly calibration: Readonly<Record<'low' | 'medium' | 'high', Share>>;
  /** Expected calibration error, where low, medium and high are read as 0.5, 0.75 and 0.95. Null without an answer. */
  readonly calibrationError: number | null;
  readonly latencyMs: { readonly p50: number | null; readonly p95: number | null };
  /** Of the cases whose cost is known; null where there is none. */
  readonly costMicros: number | null;
  readonly costKnown: number;
}

/** What the judge's word is taken for, to put a number on its calibration. */
const MEANT = { low: 0.5, medium: 0.75, high: 0.95 } as const;

/** Figures of one run over one labelled set: they say nothing certain about another set, model version or day. */
export function evaluationReport(cases: readonly EvaluatedCase[]): EvaluationReport {
  const answered = cases.filter((c) => !c.failed);
  const said = answered.filter((c) => c.status === 'BLOCK');
  const labelled = cases.filter((c) => c.label === 'BLOCK');
  const harmful = cases.filter((c) => c.label !== 'ALLOW');
  const harmless = cases.filter((c) => c.label === 'ALLOW');
  const costs = cases.flatMap((c) => (c.costMicros === null ? [] : [c.costMicros]));
  const bucket = (confidence: 'low' | 'medium' | 'high'): Share => {
    const inside = answered.filter((c) => c.confidence === confidence);
    return share(inside.filter(isRight).length, inside.length);
  };
  const calibration = { low: bucket('low'), medium: bucket('medium'), high: bucket('high') };
  return {
    cases: cases.length,
    blockPrecision: share(said.filter((c) => c.label === 'BLOCK').length, said.length),
    blockRecall: share(labelled.filter((c) => !c.failed && c.status === 'BLOCK').length, labelled.length),
    raisedRecall: share(harmful.filter((c) => c.status !== 'ALLOW').length, harmful.length),
    falseAlarms: share(harmless.filter((c) => c.status !== 'ALLOW').length, harmless.length),
    abstained: share(cases.filter((c) => c.reasonCode === 'judge_abstain').length, cases.length),
    failed: share(cases.length - answered.length, cases.length),
    failures: countOf(cases.filter((c) => c.failed).map((c) => c.cause ?? 'unknown')),
    calibration,
    calibrationError: calibrationError(calibration),
    latencyMs: { p50: percentile(answered, 0.5), p95: percentile(answered, 0.95) },
    costMicros: costs.length === 0 ? null : costs.reduce((total, cost) => total + cost, 0),
    costKnown: costs.length,
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

/** Wilson's interval: sensible for small sets and for shares near 0 and 1, where the usual one is not. */
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
    // The ends exactly: rounding leaves 0.9999999999999999.
    low: hits === 0 ? 0 : (centre - spread) / scale,
    high: hits === of ? 1 : (centre + spread) / scale,
  };
}

function calibrationError(calibration: EvaluationReport['calibration']): number | null {
  const buckets = (['low', 'medium', 'high'] as const).map((name) => ({ ...calibration[name], meant: MEANT[name] }));
  const total = buckets.reduce((sum, b) => sum + b.of, 0);
  if (total === 0) return null;
  return buckets.reduce((sum, b) => sum + (b.value === null ? 0 : (b.of / total) * Math.abs(b.value - b.meant)), 0);
}

/** The smallest latency that at least this share of the cases did not pass. */
function percentile(cases: readonly EvaluatedCase[], p: number): number | null {
  const sorted = cases.map((c) => c.latencyMs).sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * p) - 1] ?? null;
}

/** The report for people, one figure a line. */
export function evaluationText(report: EvaluationReport): string {
  const percent = (n: number): string => `${(n * 100).toFixed(1)} %`;
  const line = (name: string, s: Share): string =>
    `${name.padEnd(34)} ${s.value === null ? 'no cases' : `${percent(s.value)}  (95 %: ${percent(s.low)} to ${percent(s.high)}; ${s.hits} of ${s.of})`}`;
  const { latencyMs: ms } = report;
  return [
    `${report.cases} case${report.cases === 1 ? '' : 's'}. Figures of this run over this set; no promise for another.`,
    line('BLOCK precision', report.blockPrecision),
    line('BLOCK recall', report.blockRecall),
    line('harmful, reached a person', report.raisedRecall),
    line('harmless, reached a person', report.falseAlarms),
    line('abstained', report.abstained),
    line('could not answer', report.failed),
    ...Object.entries(report.failures).map(([cause, count]) => `${`  ${cause}`.padEnd(34)} ${count}`),
    line('right when confidence is low', report.calibration.low),
    line('right when confidence is medium', report.calibration.medium),
    line('right when confidence is high', report.calibration.high),
    `${'calibration error'.padEnd(34)} ${report.calibrationError === null ? 'no answers' : report.calibrationError.toFixed(3)}`,
    `${'latency'.padEnd(34)} ${ms.p50 === null ? 'no answers' : `p50 ${Math.round(ms.p50)} ms, p95 ${Math.round(ms.p95 ?? 0)} ms`}`,
    `${'cost'.padEnd(34)} ${costText(report)}`,
  ].join('\n');
}

function costText({ costMicros, costKnown, cases }: EvaluationReport): string {
  if (costMicros === null) return 'unknown: set COUNTERSIGN_JUDGE_PRICES_FILE to a table that names the model';
  const known = `${(costMicros / 1_000_000).toFixed(6)} in the unit of the price table`;
  return costKnown === cases ? known : `${known}, for ${costKnown} of ${cases} cases; of the others it is not known`;
}
