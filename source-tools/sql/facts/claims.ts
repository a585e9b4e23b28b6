import type { DiffInput } from '../../../policy/contracts/diff';
import { diffEvidence, pointerEvidence } from '../../../policy/contracts/facts';
import type { ClaimCheck } from '../../../policy/contracts/source-tool';
import { shown } from '../../../policy/text/shown-name';
import { shownName } from '../../../policy/text/table-name';
import { casTable, type SqlCasFacts } from './sql-cas-facts';
import type { SqlFacts } from './sql-facts';

export function sqlClaims(facts: SqlFacts, { diffSha }: DiffInput): ClaimCheck {
  return {
    subject: 'text',
    rows: insertedRows(facts, diffSha),
    tables: facts.relations.map(({ relation, access, span }) => ({
      schema: relation.schema,
      name: relation.name,
      written: access !== 'read',
      text: shownName(relation),
      evidence: diffEvidence(diffSha, span),
    })),
  };
}

/** Number of inserted rows if the text consists only of INSERT … VALUES, else null. */
function insertedRows(facts: SqlFacts, diffSha: string): ClaimCheck['rows'] {
  const { dml, dynamicSql, statements } = facts;
  if (dml.length === 0 || dynamicSql.length > 0 || statements.length !== dml.length) return null;
  let count = 0;
  for (const { kind, valueRows, onConflictUpdate, via } of dml) {
    if (kind !== 'insert' || valueRows === null || onConflictUpdate || via.length > 0) return null;
    count += valueRows;
  }
  return { count, evidence: dml.map(({ span }) => diffEvidence(diffSha, span)) };
}

/** Each operation writes one row. */
export function casClaims({ operations }: SqlCasFacts, { diffSha }: DiffInput): ClaimCheck {
  return {
    subject: 'diff',
    rows: {
      count: operations.length,
      evidence: operations.slice(0, 1).map(({ pointer }) => pointerEvidence(diffSha, pointer)),
    },
    tables: operations.map(({ table, pointer }) => ({
      ...casTable(table),
      written: true,
      text: shown(table),
      evidence: pointerEvidence(diffSha, pointer),
    })),
  };
}
