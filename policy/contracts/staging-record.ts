import { z } from 'zod';
import type { JsonObject } from './canonical-json';
import { Name, Sha256Hex } from './diff';
import { typedHash, type Sha256 } from './hash';
import { JsonRecord } from './json-value';

const Count = z.int().min(0);
const Counts = { inserted: Count, updated: Count, deleted: Count };

/** One statement or operation, in order. `sha` is the hash of its bytes: the record contains no text of the diff. */
const StagedStatement = z.strictObject({
  sha: Sha256Hex,
  /** The command tag, e.g. UPDATE; for HTTP the method, for git the kind of change. */
  command: z.string().max(100),
  rowCount: Count,
});

/** Effect on one table (or resource). `touchedSha` hashes (key, row before, row after) of all touched rows; null if it could not be computed. */
const StagedTable = z.strictObject({
  table: z.string().max(300),
  ...Counts,
  touchedSha: Sha256Hex.nullable(),
  /** False if the rows have no key; then the multiset of complete old rows was hashed. */
  keyed: z.boolean(),
  /** Columns whose new values are excluded from the hash of new rows; `notCompared` says why. */
  volatileColumns: z.array(z.string()).max(200),
});

/**
 * Result of the dry run, created and stored by the committer. Arrays have a fixed order (statements as staged, tables by
 * name), so that equal dry runs have equal hashes.
 */
export const StagingRecord = z.strictObject({
  sourceTool: Name,
  target: Name,
  /** `measured` by the committer, or `claimed` by the requester in cooperative mode and not verified. */
  origin: z.enum(['measured', 'claimed']),
  statements: z.array(StagedStatement).max(1000),
  tables: z.array(StagedTable).max(500),
  /** Rows that the target's statistics count beyond the captured ones, caused by triggers, cascades or functions. */
  sideEffects: z.array(z.strictObject({ table: z.string().max(300), ...Counts })).max(500),
  /** True if everything that the change touched was captured; otherwise `uncaptured` lists the rest. */
  fullyCaptured: z.boolean(),
  uncaptured: z.array(z.string().max(500)).max(100),
  /** `not_rehearsed`: nothing was executed, and `uncaptured` says why. If a person confirms, the change first executes in the commit. */
  reason: z.enum(['not_rehearsed']).nullable(),
  /** Columns whose values at commit may differ from the ones that were shown, and why. */
  notCompared: z
    .array(z.strictObject({ table: z.string().max(300), column: z.string().max(300), why: z.string().max(200) }))
    .max(1000),
  /** Hash of the preview that is stored with the record (rows before and after, at most 20); null if there is none. */
  previewSha: Sha256Hex.nullable(),
  /** Adapter-specific base: row versions, an ETag, an old commit id. */
  base: JsonRecord,
  serverVersion: z.string().max(200),
});
export type StagingRecord = z.infer<typeof StagingRecord>;

export function previewSha(preview: JsonObject): Sha256 {
  return typedHash('preview', { preview });
}

export function stagingSha(record: StagingRecord): Sha256 {
  return typedHash('staging', record);
}
