import { z } from 'zod';
import type { DiffInput } from '../../contracts/diff';
import type { Facts } from '../../contracts/facts';
import { sha256HexOfText } from '../../contracts/hash';
import { deletedRows, touchedRows } from '../../contracts/readings';
import type { DiffMeasure } from '../../contracts/source-tool';
import type { StagingRecord } from '../../contracts/staging-record';
import type { ViewedTool } from '../tool-view';

/** Largest possible limit on places. A change that touches more is measured as one more than this. */
export const MAX_PLACES = 1000;

const Count = z.int().min(0);
/** First 16 hex digits of the digest of a name: places can be counted, and the record does not contain names. */
export const Place = z.string().regex(/^[0-9a-f]{16}$/);

/** The size of one change. Null means unknown, which never counts as zero. */
export const Measure = z.strictObject({
  bytes: Count,
  operations: Count.nullable(),
  deletions: Count.nullable(),
  rows: Count.nullable(),
  /** Sorted and distinct. */
  places: z
    .array(Place)
    .max(MAX_PLACES + 1)
    .nullable(),
});
export type Measure = z.infer<typeof Measure>;

/** What the dry run of a change showed. The committer writes it into the row `staged`. */
export const StagedMeasure = z.strictObject({ deletions: Count.nullable(), rows: Count });
export type StagedMeasure = z.infer<typeof StagedMeasure>;

/** Null if the dry run did not capture everything, or if there was none. */
export function stagedMeasureOf(
  tool: Pick<ViewedTool, 'measure' | 'touched'>,
  diff: DiffInput,
  facts: Facts,
  record: StagingRecord,
): StagedMeasure | null {
  if (!record.fullyCaptured || record.origin === 'claimed') return null;
  const measured = (rows: number): DiffMeasure =>
    tool.measure(facts, { ...diff, metadata: { ...diff.metadata, affected_rows: rows } });
  const { rows } = measured(touchedRows(record));
  if (rows === null) return null;
  const deleted = deletedRows(record);
  const { deletions } = measured(deleted);
  // Triggers and functions delete rows that no statement of the text names.
  return { rows, deletions: deletions === null ? null : Math.max(deletions, deleted) };
}

/** Pure: the review worker and the committer get the same measure. `tool`: the source tool that extracted `facts`. */
export function measureOf(tool: Pick<ViewedTool, 'measure' | 'touched'>, diff: DiffInput, facts: Facts): Measure {
  const { operations, deletions, rows, places } = tool.measure(facts, diff);
  const names = places ?? tool.touched(facts, diff)?.map(({ kind, schema, name }) => [kind, schema, name]) ?? null;
  return { bytes: diff.raw.length, operations, deletions, rows, places: names === null ? null : digestsOf(names) };
}

function digestsOf(names: NonNullable<DiffMeasure['places']>): string[] {
  const digests = names.map((name) => sha256HexOfText(JSON.stringify(name)).slice(0, 16));
  return [...new Set(digests)].sort().slice(0, MAX_PLACES + 1);
}
