/**
 * What many changes come to, and what that says of one of them.
 *
 * S1 Pure over what was counted: whoever has the signed record comes to the same result, and to no other.
 * S2 What is not known is not nothing: a change that cannot be measured passes no limit on what it holds.
 * S3 A limit fires only where this change adds to its sum: a read is not held for deletes that were made before it.
 */
import { z } from 'zod';
import { canonicalJson } from '../../contracts/canonical-json';
import { Name, Sha256Hex } from '../../contracts/diff';
import { MAX_EVIDENCE_REFS, type ValidatorResult } from '../../contracts/finding';
import type { RollbackReason } from '../../contracts/outcome';
import type { OpenedChange } from '../../contracts/ledger';
import { durationMs } from '../../contracts/duration';
import type { ValidatorDefinition } from '../define';
import { AggregateConfig, MAX_COUNTED } from './config';
import { MAX_PLACES, Measure, Place } from './measure';

const Weight = z.int().min(0).nullable();

/** One other change, as it was counted; null where that is not known. `places`: how many. */
const Counted = z.strictObject({
  changeId: Sha256Hex,
  bytes: Weight,
  operations: Weight,
  deletions: Weight,
  rows: Weight,
  places: Weight,
});
type Counted = z.infer<typeof Counted>;

/** What the sum was made of; it stands in the attested record, and its digest is the record's input. */
export const AggregateRecord = z.strictObject({
  tenant: Name,
  target: Name,
  sourceTool: Name,
  /** The agent: the person or service behind the submission; null where nobody knows, and then everybody's changes count. */
  requester: z.string().nullable(),
  openedAt: z.iso.datetime(),
  own: Measure,
  /** Newest first. */
  counted: z.array(Counted).max(MAX_COUNTED),
  /** False where there were more than fit. */
  complete: z.boolean(),
  /** Of the others together, sorted; empty without a limit on places, and cut where it passes any limit. */
  places: z.array(Place).max(MAX_PLACES + 1),
});
export type AggregateRecord = z.infer<typeof AggregateRecord>;

/**
 * Endings after which a change does not count: nothing of it was applied, and nobody refused it. Its author took it back, or it
 * has to be submitted again, and would count twice. A change that was refused counts: a refusal gives nothing back.
 */
export const TAKEN_BACK: readonly RollbackReason[] = [
  'withdrawn',
  'superseded',
  'stale_base',
  'policy_moved',
  'commit_failed',
];

/** The change that a sum is about. */
export type SummedChange = Omit<AggregateRecord, 'counted' | 'complete' | 'places'>;

/** Of the others, newest first: which count, and what they weigh. One more than MAX_COUNTED says that there are too many. */
export function addUp(
  change: SummedChange,
  { limits }: AggregateConfig,
  others: readonly Pick<OpenedChange, 'changeId' | 'measure' | 'state'>[],
): AggregateRecord {
  const known = others.map(({ measure, ...other }) => ({ ...other, measure: Measure.safeParse(measure).data ?? null }));
  const counted = known.slice(0, MAX_COUNTED);
  const places = limits.places === undefined ? [] : counted.flatMap(({ measure }) => measure?.places ?? []);
  return {
    ...change,
    counted: counted.map(toCounted),
    complete: known.length <= MAX_COUNTED,
    places: [...new Set(places)].sort().slice(0, MAX_PLACES + 1),
  };
}

/** What is not known of a change that was rolled back weighs nothing: nothing of it was applied. */
function toCounted({ changeId, measure, state }: Omit<OpenedChange, 'measure'> & { measure: Measure | null }): Counted {
  const { bytes = null, operations = null, deletions = null, rows = null, places = null } = measure ?? {};
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
 * Whether a record is about this change and counts all that must be counted. It may count more, or more of it: a change that
 * was open then may have been taken back since.
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

function isAtLeast(said: Counted | undefined, needed: Counted): boolean {
  return said !== undefined && WEIGHTS.every((w) => said[w] === null || (needed[w] !== null && said[w] >= needed[w]));
}

export function windowStart({ window }: AggregateConfig, openedAt: string): string {
  return new Date(Date.parse(openedAt) - (durationMs(window) ?? Number.NaN)).toISOString();
}

interface Passed {
  readonly limit: string;
  readonly said: string;
  /** Null where it is not known. */
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
  const passed = passedLimits(config, record);
  if (passed.length === 0 && complete)
    return { validator_id: validatorId, status: 'ALLOW', reason: '', evidenceRefs: [] };
  const others = complete ? `${counted.length} other changes` : `more than ${MAX_COUNTED} other changes`;
  const said = [
    ...(complete ? [] : [`there are more than ${MAX_COUNTED} of them, which is more than can be added up`]),
    ...passed.map((p) => p.said),
  ];
  const refs = counted.map((c) => `review:${c.changeId}`).slice(0, MAX_EVIDENCE_REFS);
  return {
    validator_id: validatorId,
    status: 'BLOCK',
    reason: `With ${others} of the last ${config.window} by the same ${config.by.join(', ')}: ${said.join('; ')}`,
    reasonCode: complete
      ? ((passed.find((p) => p.code === 'aggregate_limit') ?? passed[0])?.code ?? '')
      : 'aggregate_too_many',
    evidenceRefs: refs.length === 0 ? [`review:${changeId}`] : refs,
    details: {
      window: config.window,
      by: [...config.by],
      changes: counted.length + 1,
      sums: Object.fromEntries(passed.map((p) => [p.limit, p.sum])),
    },
  };
}

const SUMMED = ['bytes', 'operations', 'deletions', 'rows'] as const;
const WEIGHTS = [...SUMMED, 'places'] as const;

function passedLimits({ limits }: AggregateConfig, { own, counted, places }: AggregateRecord): Passed[] {
  const changes = { name: 'changes' as const, own: 1, others: counted.map(() => 1) };
  const contents = SUMMED.map((name) => ({ name, own: own[name], others: counted.map((c) => c[name]) }));
  const found = [changes, ...contents].map(({ name, own, others }) => past(name, own, others, limits[name]));
  return [...found, pastPlaces(own.places, counted, places, limits.places)].flatMap((p) => p ?? []);
}

function past(name: string, own: number | null, others: readonly (number | null)[], limit?: number): Passed | null {
  if (limit === undefined || own === 0) return null;
  if (own === null || others.includes(null)) return unmeasured(name, own === null);
  const sum = others.reduce<number>((total, n) => total + (n ?? 0), own);
  return sum <= limit
    ? null
    : { limit: name, said: `${name} come to ${sum}, limit ${limit}`, sum, code: 'aggregate_limit' };
}

function pastPlaces(
  own: readonly string[] | null,
  counted: readonly Counted[],
  others: readonly string[],
  limit?: number,
): Passed | null {
  if (limit === undefined || own?.length === 0) return null;
  if (own === null || counted.some((c) => c.places === null)) return unmeasured('places', own === null);
  const known = new Set(others);
  const added = own.filter((place) => !known.has(place)).length;
  const sum = known.size + added;
  if (added === 0 || sum <= limit) return null;
  return { limit: 'places', said: `places come to ${sum}, limit ${limit}`, sum, code: 'aggregate_limit' };
}

function unmeasured(name: string, own: boolean): Passed {
  const whose = own ? 'this change' : 'another change';
  return { limit: name, said: `the ${name} of ${whose} are not known`, sum: null, code: 'aggregate_unmeasured' };
}

/** Adds up the changes of a window. The ledger knows them, so an attestor answers (DESIGN §2). */
export const aggregateDefinition: ValidatorDefinition<AggregateConfig> = Object.freeze({
  implementation: 'aggregate',
  pack: null,
  kind: 'attested' as const,
  version: 'v1',
  logicRevision: 2,
  config: AggregateConfig,
  sourceTools: '*' as const,
  phase: 'preflight' as const,
  reads: ['measure', 'touched', 'metadata'] as const,
  parser: null,
  defaultLevel: 'confirm' as const,
  why: 'Many small changes, each harmless, do together what one change may not.',
  docs: 'docs/rules/aggregates.md',
  evaluate: null,
});
