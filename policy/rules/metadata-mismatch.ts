import type { JsonValue } from '../contracts/canonical-json';
import type { StagingRecord } from '../contracts/staging-record';
import { touchedRows } from '../contracts/readings';
import type { RuleOutcome, ValidatorInput } from './define';
import { metadataEvidence, stagingEvidence } from '../contracts/facts';
import { counted } from '../text/counted';
import { shown } from '../text/shown-name';
import { parseName, shownName, type TableName } from '../text/table-name';

interface Contradiction {
  readonly claim: 'affected_rows' | 'table_name';
  readonly reason: string;
  readonly evidence: readonly string[];
}

/**
 * Compares the caller's claims (`affected_rows`, `table_name`) with what the bytes and the dry run show. Does not fire if there
 * is no claim or nothing contradicts it. Fires on a claim of the wrong type, because it cannot be confirmed.
 */
export function metadataMismatch(input: ValidatorInput): RuleOutcome {
  const { metadata } = input.diff;
  const rows = metadata['affected_rows'];
  const table = metadata['table_name'];
  if (isAbsent(rows) && isAbsent(table)) return { fires: false };
  const found = [...rowsContradicted(rows, input), ...tableContradicted(table, input)];
  if (found.length === 0) return input.facts.ok ? { fires: false } : uncheckable(input);
  return {
    fires: true,
    reason: found.map((c) => c.reason).join('; '),
    reasonCode: 'metadata_mismatch',
    evidence: [...new Set(found.flatMap((c) => c.evidence))],
    details: { claims: [...new Set(found.map((c) => c.claim))] },
  };
}

function isAbsent(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null;
}

function rowsContradicted(claim: JsonValue | undefined, input: ValidatorInput): readonly Contradiction[] {
  if (isAbsent(claim)) return [];
  const evidence = [metadataEvidence(input.inputSha, '/affected_rows')];
  const against = (reason: string, more: readonly string[]): readonly Contradiction[] => [
    { claim: 'affected_rows', reason, evidence: [...evidence, ...more] },
  ];
  if (typeof claim !== 'number' || !Number.isInteger(claim) || claim < 0)
    return against('The claimed affected_rows is not a valid number of rows', []);
  // Without a rehearsal there are no counts; the commit compares the claim with what it does.
  if (input.staging !== null && input.staging.record.reason !== 'not_rehearsed') {
    const { record, sha } = input.staging;
    const shows = countsOf(record);
    return shows.has(claim)
      ? []
      : against(`The metadata claims ${counted(claim, 'row')}, but the dry run touched ${touchedRows(record)}`, [
          stagingEvidence(sha, '/tables'),
        ]);
  }
  const written = input.tool.claims?.rows ?? null;
  return written === null || written.count === claim
    ? []
    : against(`The metadata claims ${counted(claim, 'row')}, but the diff writes ${written.count}`, written.evidence);
}

/** All correct ways to count: everything touched, the tables without side effects, the rows that the statements report. */
function countsOf(record: StagingRecord): ReadonlySet<number> {
  const captured = touchedRows({ ...record, sideEffects: [] });
  const reported = record.statements
    .filter((s) => ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(s.command))
    .reduce((sum, s) => sum + s.rowCount, 0);
  return new Set([touchedRows(record), captured, reported]);
}

function tableContradicted(claim: JsonValue | undefined, input: ValidatorInput): readonly Contradiction[] {
  if (isAbsent(claim)) return [];
  const evidence = [metadataEvidence(input.inputSha, '/table_name')];
  const named = typeof claim === 'string' ? parseName(claim) : null;
  if (named === null)
    return [{ claim: 'table_name', reason: 'The claimed table_name is not a valid table name', evidence }];
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
        reason: `The metadata claims ${shownName(named)}, but the ${subject} also changes ${other.text}`,
        evidence: [...evidence, other.evidence],
      });
    else if (absent)
      found.push({
        claim: 'table_name',
        reason: `The metadata claims ${shownName(named)}, but the ${subject} does not name it`,
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
        reason: `The metadata claims ${shownName(named)}, but the dry run touched ${shown(other.table)}`,
        evidence: [...evidence, stagingEvidence(sha, `/tables/${index}`)],
      });
  }
  return found;
}

function stagedAgrees(claim: TableName, table: string): boolean {
  const staged = parseName(table);
  return staged !== null && agrees(claim, staged);
}

/** A claim without a schema means `public`. A name in the diff without a schema may be in any schema, so only the name is compared. */
function agrees(claim: TableName, seen: { readonly schema: string | null; readonly name: string | null }): boolean {
  if (claim.name !== seen.name) return false;
  return seen.schema === null || (claim.schema ?? 'public') === seen.schema;
}

/** There is a claim, but no facts to compare it with. */
function uncheckable(input: ValidatorInput): RuleOutcome {
  return {
    fires: true,
    reason: 'The diff could not be read, so its metadata could not be checked',
    reasonCode: 'facts_unavailable',
    errorClass: 'ErrVerdictParse',
    evidence: [metadataEvidence(input.inputSha, '')],
  };
}
