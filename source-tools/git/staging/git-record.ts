import { z } from 'zod';
import { canonicalJson } from '../../../policy/contracts/canonical-json';
import { sha256HexOfText } from '../../../policy/contracts/hash';
import type { StagingRecord } from '../../../policy/contracts/staging-record';
import { ABSENT, ChangedPath } from './changed-paths';

const ObjectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

/** `base` of a git staging record: all inputs of the commit object except the time. */
export const GitBase = z.strictObject({
  adapter: z.literal('git/1'),
  ref: z.string(),
  commit: ObjectId,
  treeBefore: ObjectId,
  treeAfter: ObjectId,
  paths: z.array(ChangedPath),
  author: z.string(),
  message: z.string(),
  /** The id of the written commit; only in the record that post validators receive at commit time. */
  written: ObjectId.optional(),
});
export type GitBase = z.infer<typeof GitBase>;

export function toGitRecord(
  base: GitBase,
  change: { readonly sourceTool: string; readonly target: string; readonly diffSha: string; readonly version: string },
): StagingRecord {
  return {
    sourceTool: change.sourceTool,
    target: change.target,
    origin: 'measured',
    statements: [{ sha: change.diffSha, command: 'git apply', rowCount: base.paths.length }],
    tables: base.paths.map((entry) => ({
      table: entry.path,
      inserted: Number(entry.oldMode === ABSENT),
      updated: Number(entry.oldMode !== ABSENT && entry.newMode !== ABSENT),
      deleted: Number(entry.newMode === ABSENT),
      touchedSha: sha256HexOfText(canonicalJson(entry)),
      keyed: true,
      volatileColumns: [],
    })),
    sideEffects: [],
    fullyCaptured: true,
    uncaptured: [],
    reason: null,
    notCompared: [],
    previewSha: null,
    base: base as unknown as StagingRecord['base'],
    serverVersion: change.version,
  };
}

/** Null if the record is not a git staging record. */
export function gitBaseOf(record: StagingRecord | null): GitBase | null {
  const parsed = GitBase.safeParse(record?.base);
  return parsed.success ? parsed.data : null;
}
