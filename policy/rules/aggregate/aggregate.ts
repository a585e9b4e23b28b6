/**
 * Limits on the sum of many changes.
 *
 * S1 Pure over the counted values: the result can be recomputed from the signed record.
 * S2 Unknown is not zero: a limit blocks a change whose value for that limit cannot be measured.
 * S3 A limit fires only if this change adds to its sum: earlier deletes do not block a read.
 */
import { z } from 'zod';
import { canonicalJson } from '../../contracts/canonical-json';
import { Name, Sha256Hex } from '../../contracts/diff';
import type { ValidatorResult } from '../../contracts/finding';
import { MAX_EVIDENCE_REFS } from '../../contracts/limits';
import type { RollbackReason } from '../../contracts/outcome';
import type { MeasuredChange } from '../../contracts/ledger';
import { durationMs } from '../../contracts/duration';
import type { ValidatorDefinition } from '../define';
import { counted as countedText } from '../../text/counted';
import { AggregateConfig, MAX_COUNTED } from './config';
import { MAX_PLACES, Measure, Place, StagedMeasure } from './measure';

const Weight = z.int().min(0).nullable();

/** One other change, as it was counted; null if the value is unknown. `places` is their number. */
const Counted = z.strictObject({
  changeId: Sha256Hex,
  bytes: Weight,
  operations: Weight,
  deletions: Weight,
  rows: Weight,
  places: Weight,
});
type Counted = z.infer<typeof Counted>;

/** The input of the sum. Part of the attested record, whose input digest covers it. */
export const AggregateRecord = z.strictObject({
  tenant: Name,
  target: Name,
  sourceTool: Name,
  /**
   * The agent: the person or service behind the submission. If it is unknown (null), the changes of all agents count. If it is
   * known, a change of an unknown agent counts only if its commit had begun before this one was opened.
   */
  requester: z.string().nullable(),
  openedAt: z.iso.datetime(),
  own: Measure,
  /** Newest first. */
  counted: z.array(Counted).max(MAX_COUNTED),
  /** False if there were more than MAX_COUNTED. */
  complete: z.boolean(),
  /** Distinct places of the other changes, sorted. Empty without a limit on places; truncated above the largest possible limit. */
  places: z.array(Place).max(MAX_PLACES + 1),
});
export type AggregateRecord = z.infer<typeof AggregateRecord>;

/**
 * Rollback reasons after which a change does not count: it was not applied and not rejected. Its author withdrew it, or it must
 * be submitted again and would count twice. A rejected change counts: a rejection does not restore the quota.
 */
export const UNCOUNTED_REASONS: readonly RollbackReason[] = [
  'withdrawn',
  'superseded',
  'stale_base',
  'policy_moved',
  'commit_failed',
];

/** The change that the limits are checked for. */
export type SummedChange = Omit<AggregateRecord, 'counted' | 'complete' | 'places'>;

/** Makes the record for a change. `others`: newest first; more than MAX_COUNTED of them make the record incomplete. */
export function sumChanges(
  change: SummedChange,
  { limits }: AggregateConfig,
  others: readonly MeasuredChange[],
): AggregateRecord {
  const known = others.map(({ measure, staged, ...other }) => ({
    ...other,
    measure: Measure.safeParse(measure).data ?? null,
    staged: StagedMeasure.safeParse(staged).data ?? null,
  }));
  const counted = known.slice(0, MAX_COUNTED);
  const places = limits.places === undefined ? [] : counted.flatMap(({ measure }) => measure?.places ?? []);
  return {
    ...change,
    counted: counted.map(toCounted),
    complete: known.length <= MAX_COUNTED,
    places: [...new Set(places)].sort().slice(0, MAX_PLACES + 1),
  };
}

/** The claim or the number of the dry run, whichever is larger; null if neither is known. */
function larger(claimed: number | null | undefined, staged: number | null | undefined): number | null {
  if (claimed == null || staged == null) return claimed ?? staged ?? null;
  return Math.max(claimed, staged);
}

/** An unknown value of a change that was rolled back counts as zero, because the change was not applied. */
function toCounted({
  changeId,
  measure,
  staged,
  state,
}: Omit<MeasuredChange, 'measure' | 'staged'> & {
  readonly measure: Measure | null;
  readonly staged: StagedMeasure | null;
}): Counted {
  const { bytes = null, operations = null, places = null } = measure ?? {};
  const deletions = larger(measure?.deletions, staged?.deletions);
  const rows = larger(measure?.rows, staged?.rows);
  const unknown = state === 'ROLLED_BACK' ? 0 : null;
  return {
    changeId,
    bytes: bytes ?? unknown,
    operations: operations ?? unknown,
    deletions: deletions ?? unknown,
    rows: rows ?? unknown,
    places: places?.length ?? unknown,
  };
}

/**
 * True if a record is about this change and counts at least everything in `needed`. It may count more, because a change that was
 * open then may have been withdrawn since.
 */
export function countsAll(record: AggregateRecord, needed: AggregateRecord): boolean {
  const { counted, complete, places, ...change } = record;
  const { counted: _counted, complete: _complete, places: _places, ...expected } = needed;
  if (canonicalJson(change) !== canonicalJson(expected)) return false;
  if (!complete) return true;
  const by = new Map(counted.map((c) => [c.changeId, c]));
  const everyPlace = new Set(places);
  return (
    needed.complete &&
    needed.counted.every((c) => isAtLeast(by.get(c.changeId), c)) &&
    (places.length > MAX_PLACES || needed.places.every((place) => everyPlace.has(place)))
  );
}

function isAtLeast(recorded: Counted | undefined, needed: Counted): boolean {
  if (recorded === undefined) return false;
  return WEIGHTS.every((w) => recorded[w] === null || (needed[w] !== null && recorded[w] >= needed[w]));
}

export function windowStart({ window }: AggregateConfig, openedAt: string): string {
  return new Date(Date.parse(openedAt) - (durationMs(window) ?? Number.NaN)).toISOString();
}

interface Exceeded {
  readonly limit: string;
  readonly text: string;
  /** Null if unknown. */
  readonly sum: number | null;
  readonly code: 'aggregate_limit' | 'aggregate_unmeasured';
}

export function aggregateResult(
  validatorId: string,
  changeId: string,
  config: AggregateConfig,
  record: AggregateRecord,
): ValidatorResult {
  const { counted, complete } = record;
  const exceeded = exceededLimits(config, record);
  if (exceeded.length === 0 && complete)
    return { validator_id: validatorId, status: 'ALLOW', reason: '', evidenceRefs: [] };
  const others = othersText(counted.length, complete);
  const problems = [
    ...(complete ? [] : [`at most ${MAX_COUNTED} changes can be counted`]),
    ...exceeded.map((e) => e.text),
  ];
  const refs = counted.map((c) => `review:${c.changeId}`).slice(0, MAX_EVIDENCE_REFS);
  return {
    validator_id: validatorId,
    status: 'BLOCK',
    reason: `${others} in the last ${config.window} (same ${config.by.join(', ')}): ${problems.join('; ')}`,
    reasonCode: complete
      ? ((exceeded.find((e) => e.code === 'aggregate_limit') ?? exceeded[0])?.code ?? '')
      : 'aggregate_too_many',
    evidenceRefs: refs.length === 0 ? [`review:${changeId}`] : refs,
    details: {
      window: config.window,
      by: [...config.by],
      changes: counted.length + 1,
      sums: Object.fromEntries(exceeded.map((e) => [e.limit, e.sum])),
    },
  };
}

function othersText(count: number, complete: boolean): string {
  if (!complete) return `Together with more than ${MAX_COUNTED} other changes`;
  return count === 0 ? 'Without any other change' : `Together with ${countedText(count, 'other change')}`;
}

const SUMMED = ['bytes', 'operations', 'deletions', 'rows'] as const;
const WEIGHTS = [...SUMMED, 'places'] as const;

function exceededLimits({ limits }: AggregateConfig, { own, counted, places }: AggregateRecord): Exceeded[] {
  const changes = { name: 'changes' as const, own: 1, others: counted.map(() => 1) };
  const contents = SUMMED.map((name) => ({ name, own: own[name], others: counted.map((c) => c[name]) }));
  const found = [changes, ...contents].map(({ name, own, others }) => exceededLimit(name, own, others, limits[name]));
  return [...found, exceededPlaces(own.places, counted, places, limits.places)].flatMap((e) => e ?? []);
}

function exceededLimit(
  name: string,
  own: number | null,
  others: readonly (number | null)[],
  limit?: number,
): Exceeded | null {
  if (limit === undefined || own === 0) return null;
  if (own === null || others.includes(null)) return unmeasured(name, own === null);
  const sum = others.reduce<number>((total, n) => total + (n ?? 0), own);
  return sum <= limit ? null : { limit: name, text: `${sum} ${name}, limit ${limit}`, sum, code: 'aggregate_limit' };
}

function exceededPlaces(
  own: readonly string[] | null,
  counted: readonly Counted[],
  others: readonly string[],
  limit?: number,
): Exceeded | null {
  if (limit === undefined || own?.length === 0) return null;
  if (own === null || counted.some((c) => c.places === null)) return unmeasured('places', own === null);
  const known = new Set(others);
  const added = own.filter((place) => !known.has(place)).length;
  const sum = known.size + added;
  if (added === 0 || sum <= limit) return null;
  return { limit: 'places', text: `${sum} places, limit ${limit}`, sum, code: 'aggregate_limit' };
}

function unmeasured(name: string, own: boolean): Exceeded {
  const whose = own ? 'this change' : 'another change';
  return { limit: name, text: `the ${name} of ${whose} are unknown`, sum: null, code: 'aggregate_unmeasured' };
}

/** Limits the sum of the changes in a window. Attested, because the sum is read from the ledger. */
export const aggregateDefinition: ValidatorDefinition<AggregateConfig> = Object.freeze({
  implementation: 'aggregate',
  pack: null,
  kind: 'attested' as const,
  version: 'v1',
  logicRevision: 7,
  config: AggregateConfig,
  sourceTools: '*' as const,
  phase: 'preflight' as const,
  reads: ['measure', 'touched', 'metadata'] as const,
  parser: null,
  defaultLevel: 'confirm' as const,
  why: 'Many small changes, each harmless, can together do what one change may not.',
  docs: 'docs/rules/aggregates.md',
  evaluate: null,
});
