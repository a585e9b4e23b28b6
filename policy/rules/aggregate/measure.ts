import { z } from 'zod';
import type { DiffInput } from '../../contracts/diff';
import type { Facts } from '../../contracts/facts';
import { sha256HexOfText } from '../../contracts/hash';
import type { DiffMeasure } from '../../contracts/source-tool';
import type { ViewedTool } from '../tool-view';

/** Most that a limit on places may say; a change that touches more counts as more. */
export const MAX_PLACES = 1000;

const Count = z.int().min(0);
/** The first 16 hex digits of a name's digest: counted apart, and no name stands in the record. */
export const Place = z.string().regex(/^[0-9a-f]{16}$/);

/** What one change weighs. Null: the facts do not say, which is never nothing. */
export const Measure = z.strictObject({
  bytes: Count,
  operations: Count.nullable(),
  deletions: Count.nullable(),
  rows: Count.nullable(),
  /** Sorted, each once, at most one more than MAX_PLACES. */
  places: z
    .array(Place)
    .max(MAX_PLACES + 1)
    .nullable(),
});
export type Measure = z.infer<typeof Measure>;

/** Pure: the same bytes and metadata weigh the same in review worker and committer. `tool`: the one that `facts` are from. */
export function measureOf(tool: Pick<ViewedTool, 'measure' | 'touched'>, diff: DiffInput, facts: Facts): Measure {
  const { operations, deletions, rows, places } = tool.measure(facts, diff);
  const names = places ?? tool.touched(facts, diff)?.map(({ kind, schema, name }) => [kind, schema, name]) ?? null;
  return { bytes: diff.raw.length, operations, deletions, rows, places: names === null ? null : digestsOf(names) };
}

function digestsOf(names: NonNullable<DiffMeasure['places']>): string[] {
  const digests = names.map((name) => sha256HexOfText(JSON.stringify(name)).slice(0, 16));
  return [...new Set(digests)].sort().slice(0, MAX_PLACES + 1);
}
