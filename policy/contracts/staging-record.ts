import { z } from 'zod';
import { Name, Sha256Hex } from './diff';
import { typedHash, type Sha256 } from './hash';

const Count = z.int().min(0);
const Counts = { inserted: Count, updated: Count, deleted: Count };

/** One statement or operation, in order. `sha` is over its own bytes: the record holds no text of the diff. */
export const StagedStatement = z.strictObject({
  sha: Sha256Hex,
  /** The command's tag, e.g. UPDATE; for HTTP the method, for git the kind of change. */
  command: z.string().max(100),
  rowCount: Count,
});

/** What the change does to one table (or resource). `touchedSha` hashes (key, row before, row after) of every touched row; null where it could not be had. */
export const StagedTable = z.strictObject({
  table: z.string().max(300),
  ...Counts,
  touchedSha: Sha256Hex.nullable(),
  /** False: rows have no identity, and the multiset of whole old rows was hashed. */
  keyed: z.boolean(),
  /** Columns whose new value differed between two dry runs (now(), random(), a sequence): left out of the new-row hash. */
  volatileColumns: z.array(z.string()).max(200),
});

/**
 * What the dry run showed, made on the committer's queue and kept by the committer (records.md §5).
 * Arrays are in a fixed order (statements as staged, tables by name), so that two equal dry runs hash equal.
 */
export const StagingRecord = z.strictObject({
  sourceTool: Name,
  target: Name,
  /** `measured` by us, or `claimed` by a requester in cooperative mode and read as a claim (records.md §10). */
  origin: z.enum(['measured', 'claimed']),
  statements: z.array(StagedStatement).max(1000),
  tables: z.array(StagedTable).max(500),
  /** Rows counted by the target's statistics beyond those captured: triggers, cascades, functions. */
  sideEffects: z.array(z.strictObject({ table: z.string().max(300), ...Counts })).max(500),
  /** True when everything the change touched was captured; otherwise `uncaptured` says what was not. */
  fullyCaptured: z.boolean(),
  uncaptured: z.array(z.string().max(500)).max(100),
  /** Adapter-specific base: row versions, an ETag, an old commit id. */
  base: z.record(z.string(), z.json()),
  serverVersion: z.string().max(200),
});
export type StagingRecord = z.infer<typeof StagingRecord>;

export function stagingSha(record: StagingRecord): Sha256 {
  return typedHash('staging', record);
}
