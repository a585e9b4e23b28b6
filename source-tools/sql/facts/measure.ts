import type { DiffInput } from '../../../policy/contracts/diff';
import type { DiffMeasure } from '../../../policy/contracts/source-tool';
import { claimedRows } from '../../../policy/text/claimed-rows';
import { isListed } from './safe-functions';
import { DEFAULT_FUNCTIONS } from './safe-functions';
import type { SqlCasFacts } from './sql-cas-facts';
import type { SqlFacts, SqlName } from './sql-facts';

/**
 * `rows` is the claim of the change, because the number is not known before the dry run. The rule `metadata_mismatch` checks the
 * claim. Rows that deletes and truncates remove count by the claim as well, at least one for each statement. A called function whose
 * effects are not known may delete too.
 */
export function measureSql(facts: SqlFacts, diff: DiffInput): DiffMeasure {
  const writing = facts.statements.filter((statement) => !statement.readOnly).length;
  const calls = facts.functionCalls.filter(({ function: name }) => mayWrite(name)).length;
  const rows = writing + calls === 0 ? 0 : claimedRows(diff.metadata);
  // SQL that is built at run time may contain any number of statements.
  if (facts.dynamicSql.some((dynamic) => !dynamic.constant)) return { operations: null, deletions: null, rows };
  const deletes = facts.dml.filter((d) => d.kind === 'delete' || d.mergeActions.includes('delete'));
  const truncated = facts.truncates.reduce((sum, { tables }) => sum + tables.length, 0);
  const dropped = facts.drops.reduce((sum, { objects }) => sum + Math.max(1, objects.length), 0);
  const columns = facts.alters.filter(({ action }) => action === 'drop_column').length;
  const removing = deletes.length + truncated + calls;
  const removed = removing === 0 ? 0 : rows === null ? null : Math.max(removing, rows);
  return {
    operations: Math.max(writing, facts.dml.length, calls),
    deletions: removed === null ? null : removed + dropped + columns,
    rows,
  };
}

function mayWrite(name: SqlName): boolean {
  return !isListed(name) && !DEFAULT_FUNCTIONS.has(name.name);
}

export function measureCas({ operations }: SqlCasFacts): DiffMeasure {
  const deletions = operations.filter(({ op }) => op === 'delete').length;
  return { operations: operations.length, deletions, rows: operations.length };
}
