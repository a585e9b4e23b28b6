import type { JsonValue } from '../contracts/canonical-json';
import type { StagingRecord } from '../contracts/staging-record';
import { touchedRows } from '../contracts/readings';
import type { RuleOutcome, ValidatorInput } from './define';
import { diffEvidence, metadataEvidence, pointerEvidence, stagingEvidence } from '../contracts/facts';
import { shown } from '../text/shown-name';
import type { SqlCasFacts } from '../../source-tools/sql/facts/sql-cas-facts';
import type { SqlFacts, SqlName } from '../../source-tools/sql/facts/sql-facts';
import { parseName, shownName } from '../text/table-name';

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
  const written = writtenByBytes(input);
  return written === null || written.rows === claim
    ? []
    : against(`${claim} rows were claimed, and the diff writes ${written.rows}`, written.evidence);
}

/** The honest ways to count: everything touched, the named tables without side effects, the rows that statements report. */
function countsOf(record: StagingRecord): ReadonlySet<number> {
  const captured = touchedRows({ ...record, sideEffects: [] });
  const reported = record.statements
    .filter((s) => ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(s.command))
    .reduce((sum, s) => sum + s.rowCount, 0);
  return new Set([touchedRows(record), captured, reported]);
}

/** Rows that the bytes alone fix: compare-and-set operations, one row each, or nothing but INSERT … VALUES. */
function writtenByBytes(input: ValidatorInput): { readonly rows: number; readonly evidence: readonly string[] } | null {
  const cas = casFacts(input);
  if (cas !== null)
    return {
      rows: cas.operations.length,
      evidence: cas.operations.slice(0, 1).map((o) => pointerEvidence(input.diff.diffSha, o.pointer)),
    };
  const facts = sqlFacts(input);
  if (
    facts === null ||
    facts.dml.length === 0 ||
    facts.dynamicSql.length > 0 ||
    facts.statements.length !== facts.dml.length
  )
    return null;
  let rows = 0;
  for (const d of facts.dml) {
    if (d.kind !== 'insert' || d.valueRows === null || d.onConflictUpdate || d.via.length > 0) return null;
    rows += d.valueRows;
  }
  return { rows, evidence: facts.dml.map((d) => diffEvidence(input.diff.diffSha, d.span)) };
}

function tableContradicted(claim: JsonValue | undefined, input: ValidatorInput): readonly Contradiction[] {
  if (isNoClaim(claim)) return [];
  const evidence = [metadataEvidence(input.inputSha, '/table_name')];
  const named = typeof claim === 'string' ? parseName(claim) : null;
  if (named === null)
    return [{ claim: 'table_name', reason: 'The claimed table_name is no name of a table', evidence }];
  const found: Contradiction[] = [];
  const facts = sqlFacts(input);
  if (facts !== null) {
    const written = facts.relations.filter((r) => r.access !== 'read');
    const other = written.find((r) => !agrees(named, r.relation));
    const absent =
      written.length === 0 && facts.relations.length > 0 && !facts.relations.some((r) => agrees(named, r.relation));
    if (other !== undefined)
      found.push({
        claim: 'table_name',
        reason: `${shownName(named)} was claimed, and the text also changes ${shownName(other.relation)}`,
        evidence: [...evidence, diffEvidence(input.diff.diffSha, other.span)],
      });
    else if (absent)
      found.push({
        claim: 'table_name',
        reason: `${shownName(named)} was claimed, and the text does not name it`,
        evidence,
      });
  }
  const cas = casFacts(input)?.operations.find((o) => !stagedAgrees(named, o.table));
  if (cas !== undefined)
    found.push({
      claim: 'table_name',
      reason: `${shownName(named)} was claimed, and the diff also changes ${shown(cas.table)}`,
      evidence: [...evidence, pointerEvidence(input.diff.diffSha, cas.pointer)],
    });
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

function stagedAgrees(claim: SqlName, table: string): boolean {
  const staged = parseName(table);
  return staged !== null && agrees(claim, staged);
}

/** A claim without a schema means the default one. A name in the text without one may be anywhere, so only its name is compared. */
function agrees(claim: SqlName, seen: SqlName): boolean {
  if (claim.name !== seen.name) return false;
  return seen.schema === null || (claim.schema ?? 'public') === seen.schema;
}

function sqlFacts(input: ValidatorInput): SqlFacts | null {
  return input.facts.ok && input.facts.kind === 'sql' ? (input.facts as SqlFacts) : null;
}

function casFacts(input: ValidatorInput): SqlCasFacts | null {
  return input.facts.ok && input.facts.kind === 'sql-cas' ? (input.facts as SqlCasFacts) : null;
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
