import { shown } from '../../../../policy/text/shown-name';
import { defineSqlRule, type Hit } from '../define-sql-rule';
import type { AlterFact, ConstraintFact, CreationFact, Occurrence, SqlFacts } from '../../facts/sql-facts';
import { shownName } from '../../../../policy/text/table-name';
import { TABLE_PARTS } from './schema';
import { sameName } from '../../facts/same-name';
import { TransactionConfig, transactionState } from '../transaction-state';

const GUARDABLE = new Set(['add_column', 'drop_column', 'drop_constraint']);

export const robustStatements = defineSqlRule({
  name: 'sql_robust_statements',
  pack: 'sql-postgres-style',
  logicRevision: 6,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'If the script stops before its end outside a transaction, it cannot be run again.',
  config: TransactionConfig,
  advice: ['Add IF EXISTS or IF NOT EXISTS, or put the statements in one transaction.'],
  examples: {
    bad: 'SELECT 1; CREATE TABLE t (id bigint)',
    good: 'SELECT 1; CREATE TABLE IF NOT EXISTS t (id bigint)',
    config: { assumeInTransaction: false },
  },
  find: (facts, { assumeInTransaction }) => {
    const state = transactionState(facts, assumeInTransaction);
    const unguarded: (Occurrence & { readonly what: string })[] = [
      ...facts.creations
        // An index without a name gets a generated one, so a second run does not fail.
        .filter((c) => CREATED.has(c.objectType) && c.name.name !== '' && !isGuarded(facts, c))
        .map((c) => ({
          ...c,
          what: `CREATE ${c.objectType.toUpperCase()} ${shownName(c.name)} without IF NOT EXISTS`,
        })),
      ...facts.drops
        .filter((d) => !d.ifExists)
        .map((d) => ({ ...d, what: `DROP ${d.objectType.toUpperCase()} without IF EXISTS` })),
      ...facts.alters
        .filter((a) => TABLE_PARTS.has(a.objectType) && a.action !== 'add_constraint' && !isRepeatable(facts, a))
        .map((a) => ({ ...a, what: `${a.action.toUpperCase().replaceAll('_', ' ')} without a guard` })),
      ...unguardedConstraints(facts).map((c) => ({
        ...c,
        what: `ADD CONSTRAINT ${shown(c.name ?? '')} without DROP CONSTRAINT IF EXISTS before it`,
      })),
    ];
    // A single statement is atomic. CONCURRENTLY is not: it can leave an invalid index.
    const isSingle = facts.statements.length < 2;
    return unguarded
      .filter((u) => isConcurrent(facts, u) || !(isSingle || state.inside(u)))
      .map((u): Hit => ({ at: u, what: u.what }));
  },
});

const CREATED = new Set(['table', 'index', 'foreign_table']);

function isConcurrent(facts: SqlFacts, { statement }: Occurrence): boolean {
  return facts.indexes.some((i) => i.statement === statement && i.concurrently && i.operation !== 'reindex');
}

/** True for IF [NOT] EXISTS, and for VALIDATE CONSTRAINT of a constraint that this text adds. Other alterations may fail on a second run. */
function isRepeatable(facts: SqlFacts, alter: AlterFact): boolean {
  if (GUARDABLE.has(alter.action)) return alter.ifExists;
  return (
    alter.action === 'validate_constraint' &&
    [...facts.alters, ...facts.constraints.map((c) => ({ ...c, member: c.name }))].some(
      (a) => a.statement < alter.statement && a.member === alter.member,
    )
  );
}

/**
 * A temporary table exists until the session ends, so a second run in the same session fails unless it has ON COMMIT DROP. The server
 * rejects ON COMMIT DROP on a table that is not temporary.
 */
function isGuarded(facts: SqlFacts, creation: CreationFact): boolean {
  const table =
    creation.objectType === 'table' ? facts.tables.find((t) => t.statement === creation.statement) : undefined;
  if (table === undefined) return creation.guarded;
  return table.droppedOnCommit ? table.temporary : table.ifNotExists;
}

/** ADD CONSTRAINT entries without an earlier DROP CONSTRAINT IF EXISTS of the same name. Each DROP counts for one ADD. */
function unguardedConstraints(facts: SqlFacts): readonly ConstraintFact[] {
  const used = new Set<AlterFact>();
  return facts.constraints.filter((c) => {
    if (c.origin !== 'add_constraint') return false;
    const guard = facts.alters.find(
      (a) =>
        !used.has(a) &&
        a.action === 'drop_constraint' &&
        a.ifExists &&
        a.member === c.name &&
        a.statement <= c.statement &&
        a.object !== null &&
        c.table !== null &&
        sameName(a.object, c.table),
    );
    if (guard !== undefined) used.add(guard);
    return guard === undefined;
  });
}
