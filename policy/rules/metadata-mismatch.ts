import type { JsonValue } from '../contracts/canonical-json';
import type { StagingRecord } from '../contracts/staging-record';
import { touchedRows } from '../contracts/readings';
import type { RuleOutcome, ValidatorInput } from './define';
import { metadataEvidence, stagingEvidence } from '../contracts/facts';
import { shown } from '../text/shown-name';
import { parseName, shownName, type TableName } from '../text/table-name';

interface Contradiction {
  readonly claim: 'affected_rows' | 'table_name';
  readonly reason: string;
  readonly evidence: readonly string[];
}

/**
 * Holds what the caller claims (`affected_rows`, `table_name`, F11) against what the bytes and the dry run show. A claim that
 * nothing contradicts, and no claim at all, do not fire. A claim of the wrong type does: nothing can bear it out.
 */
export function metadataMismatch(input: ValidatorInput): RuleOutcome {
  const { metadata } = input.diff;
  const rows = metadata['affected_rows'];
  const table = metadata['table_name'];
  if (isNoClaim(rows) && isNoClaim(table)) return { fires: false };
  const found = [...rowsContradicted(rows, input), ...tableContradicted(table, input)];
  if (found.length === 0) return input.facts.ok ? { fires: false } : unread(input);
  return {
    fires: true,
    reason: found.map((c) => c.reason).join('; '),
    reasonCode: 'metadata_mismatch',
    evidence: [...new Set(found.flatMap((c) => c.evidence))],
    details: { claims: [...new Set(found.map((c) => c.claim))] },
  };
}

function isNoClaim(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null;
}

function rowsContradicted(claim: JsonValue | undefined, input: ValidatorInput): readonly Contradiction[] {
  if (isNoClaim(claim)) return [];
  const evidence = [metadataEvidence(input.inputSha, '/affected_rows')];
  const against = (reason: string, more: readonly string[]): readonly Contradiction[] => [
    { claim: 'affected_rows', reason, evidence: [...evidence, ...more] },
  ];
  if (typeof claim !== 'number' || !Number.isInteger(claim) || claim < 0)
    return against('The claimed affected_rows is no count of rows', []);
  if (input.staging !== null) {
    const { record, sha } = input.staging;
    const shows = countsOf(record);
    return shows.has(claim)
      ? []
      : against(`${claim} rows were claimed, and the dry run touched ${touchedRows(record)}`, [
          stagingEvidence(sha, '/tables'),
        ]);
  }
  const written = input.tool.claims?.rows ?? null;
  return written === null || written.count === claim
    ? []
    : against(`${claim} rows were claimed, and the diff writes ${written.count}`, written.evidence);
}

/** The honest ways to count: everything touched, the named tables without side effects, the rows that statements report. */
function countsOf(record: StagingRecord): ReadonlySet<number> {
  const captured = touchedRows({ ...record, sideEffects: [] });
  const reported = record.statements
    .filter((s) => ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(s.command))
    .reduce((sum, s) => sum + s.rowCount, 0);
  return new Set([touchedRows(record), captured, reported]);
}

function tableContradicted(claim: JsonValue | undefined, input: ValidatorInput): readonly Contradiction[] {
  if (isNoClaim(claim)) return [];
  const evidence = [metadataEvidence(input.inputSha, '/table_name')];
  const named = typeof claim === 'string' ? parseName(claim) : null;
  if (named === null)
    return [{ claim: 'table_name', reason: 'The claimed table_name is no name of a table', evidence }];
  const found: Contradiction[] = [];
  const checked = input.tool.claims;
  if (checked !== null) {
    const { subject, tables } = checked;
    const written = tables.filter((table) => table.written);
    const other = written.find((table) => !agrees(named, table));
    const absent = written.length === 0 && tables.length > 0 && !tables.some((table) => agrees(named, table));
    if (other !== undefined)
      found.push({
        claim: 'table_name',
        reason: `${shownName(named)} was claimed, and the ${subject} also changes ${other.text}`,
        evidence: [...evidence, other.evidence],
      });
    else if (absent)
      found.push({
        claim: 'table_name',
        reason: `${shownName(named)} was claimed, and the ${subject} does not name it`,
        evidence,
      });
  }
  if (input.staging !== null) {
    const { record, sha } = input.staging;
    const index = record.tables.findIndex(
      (t) => t.inserted + t.updated + t.deleted > 0 && !stagedAgrees(named, t.table),
    );
    const other = record.tables[index];
    if (other !== undefined)
      found.push({
        claim: 'table_name',
        reason: `${shownName(named)} was claimed, and the dry run touched ${shown(other.table)}`,
        evidence: [...evidence, stagingEvidence(sha, `/tables/${index}`)],
      });
  }
  return found;
}

function stagedAgrees(claim: TableName, table: string): boolean {
  const staged = parseName(table);
  return staged !== null && agrees(claim, staged);
}

/** A claim without a schema means the default one. A name in the text without one may be anywhere, so only its name is compared. */
function agrees(claim: TableName, seen: { readonly schema: string | null; readonly name: string | null }): boolean {
  if (claim.name !== seen.name) return false;
  return seen.schema === null || (claim.schema ?? 'public') === seen.schema;
}

/** There is a claim, and nothing to hold it against. */
function unread(input: ValidatorInput): RuleOutcome {
  return {
    fires: true,
    reason: 'The diff could not be read, so its metadata could not be checked',
    reasonCode: 'facts_unavailable',
    errorClass: 'ErrVerdictParse',
    evidence: [metadataEvidence(input.inputSha, '')],
  };
}
