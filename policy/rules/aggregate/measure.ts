import { z } from 'zod';
import type { DiffInput } from '../../contracts/diff';
import { sha256HexOfText } from '../../contracts/hash';
import type { Facts } from '../../contracts/facts';
import type { GitPatchFacts } from '../../../source-tools/git/facts/git-facts';
import { touchedBy } from '../guardians/touched';
import type { HttpPatchFacts } from '../../../source-tools/http/facts/http-facts';
import type { SqlCasFacts } from '../../../source-tools/sql/facts/sql-cas-facts';
import type { SqlFacts } from '../../../source-tools/sql/facts/sql-facts';
import type { TerraformPlanFacts } from '../../../source-tools/terraform/facts/terraform-facts';

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

type Contents = Pick<Measure, 'operations' | 'deletions' | 'rows'>;

const UNKNOWN: Contents = { operations: null, deletions: null, rows: null };

/** Pure: the same bytes and metadata weigh the same in review worker and committer. */
export function measureOf(diff: DiffInput, facts: Facts): Measure {
  return { bytes: diff.raw.length, ...contentsOf(diff, facts), places: placesOf(diff, facts) };
}

function contentsOf(diff: DiffInput, facts: Facts): Contents {
  if (!facts.ok) return UNKNOWN;
  switch (facts.kind) {
    case 'sql':
      return ofSql(facts as SqlFacts, diff);
    case 'sql-cas':
      return ofCas(facts as SqlCasFacts);
    case 'git-patch':
      return ofPatch(facts as GitPatchFacts);
    case 'http-patch':
      return ofRequest(facts as HttpPatchFacts);
    case 'terraform-plan':
      return ofTerraform(facts as TerraformPlanFacts);
    default:
      return { ...UNKNOWN, rows: claimedRows(diff) };
  }
}

/** Rows are those that the change claims: before the dry run nobody knows more, and `metadata_mismatch` holds the claim against it. */
function ofSql(facts: SqlFacts, diff: DiffInput): Contents {
  const writing = facts.statements.filter((statement) => !statement.readOnly).length;
  const rows = writing === 0 ? 0 : claimedRows(diff);
  // What is put together at run time may be any number of statements.
  if (facts.dynamicSql.some((dynamic) => !dynamic.constant)) return { ...UNKNOWN, rows };
  const deletes = facts.dml.filter(
    (d) => d.kind === 'delete' || d.mergeActions.some((action) => /delete/.test(action)),
  );
  const truncated = facts.truncates.reduce((sum, { tables }) => sum + tables.length, 0);
  const dropped = facts.drops.reduce((sum, { objects }) => sum + Math.max(1, objects.length), 0);
  const columns = facts.alters.filter(({ action }) => action === 'drop_column').length;
  return {
    operations: Math.max(writing, facts.dml.length),
    deletions: deletes.length + truncated + dropped + columns,
    rows,
  };
}

function ofCas({ operations }: SqlCasFacts): Contents {
  const deletions = operations.filter(({ op }) => op === 'delete').length;
  return { operations: operations.length, deletions, rows: operations.length };
}

/** Rows are lines, added and removed. */
function ofPatch({ files }: GitPatchFacts): Contents {
  return {
    operations: files.reduce((sum, { hunks }) => sum + Math.max(1, hunks.length), 0),
    deletions: files.filter(({ change }) => change === 'delete').length,
    rows: files.reduce((sum, { added, removed }) => sum + added + removed, 0),
  };
}

function ofRequest({ method, writes }: HttpPatchFacts): Contents {
  const removed = writes.filter(({ how }) => how === 'remove' || how === 'null').length;
  return {
    operations: Math.max(1, writes.filter(({ changes }) => changes).length),
    deletions: removed + (method === 'DELETE' ? 1 : 0),
    rows: 1,
  };
}

function ofTerraform({ resources }: TerraformPlanFacts): Contents {
  const changed = resources.filter(({ action }) => action !== 'no-op' && action !== 'read');
  const gone = changed.filter(({ action }) => action === 'delete' || action === 'replace' || action === 'forget');
  return { operations: changed.length, deletions: gone.length, rows: changed.length };
}

function claimedRows({ metadata }: DiffInput): number | null {
  const claim = metadata['affected_rows'];
  return typeof claim === 'number' && Number.isSafeInteger(claim) && claim >= 0 ? claim : null;
}

/** Tables, file paths, Terraform addresses; of a request the resource, not the members of its body. */
function placesOf(diff: DiffInput, facts: Facts): string[] | null {
  const names = namesOf(diff, facts);
  if (names === null) return null;
  const digests = names.map((name) => sha256HexOfText(JSON.stringify(name)).slice(0, 16));
  return [...new Set(digests)].sort().slice(0, MAX_PLACES + 1);
}

function namesOf(diff: DiffInput, facts: Facts): readonly (readonly (string | number | null)[])[] | null {
  if (facts.ok && facts.kind === 'http-patch') {
    const { host, port, path } = (facts as HttpPatchFacts).url;
    return [['url', host, port, path]];
  }
  return touchedBy({ facts, diff })?.map(({ kind, schema, name }) => [kind, schema, name]) ?? null;
}
