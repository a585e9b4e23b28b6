import { z } from 'zod';
import { shown } from '../../../../policy/text/shown-name';
import { defineSqlRule, type Hit } from '../define-sql-rule';
import type { AlterFact, ConstraintFact, CreationFact, Occurrence, SqlFacts } from '../../facts/sql-facts';
import { shownName } from '../../../../policy/text/table-name';
import { AssumeInTransaction, sameName, transactionState } from '../transaction-state';

const GUARDABLE = new Set(['add_column', 'drop_column', 'drop_constraint']);
/** ALTER TABLE … RENAME is one more alteration of a table, whatever of it gets the new name. */
const TABLES = new Set(['table', 'column', 'tabconstraint']);

export const robustStatements = defineSqlRule({
  name: 'sql_robust_statements',
  pack: 'sql-postgres-style',
  logicRevision: 3,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'A script that stopped half-way outside a transaction cannot be run again.',
  config: z.strictObject({ assumeInTransaction: AssumeInTransaction }),
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
        // An index without a name is made again under another.
        .filter((c) => CREATED.has(c.objectType) && c.name.name !== '' && !isGuarded(facts, c))
        .map((c) => ({
          ...c,
          what: `CREATE ${c.objectType.toUpperCase()} ${shownName(c.name)} without IF NOT EXISTS`,
        })),
      ...facts.drops
        .filter((d) => !d.ifExists)
        .map((d) => ({ ...d, what: `DROP ${d.objectType.toUpperCase()} without IF EXISTS` })),
      ...facts.alters
        .filter((a) => TABLES.has(a.objectType) && a.action !== 'add_constraint' && !isRepeatable(facts, a))
        .map((a) => ({ ...a, what: `${a.action.toUpperCase().replaceAll('_', ' ')} without a guard` })),
      ...addedTwice(facts).map((c) => ({
        ...c,
        what: `ADD CONSTRAINT ${shown(c.name ?? '')} without DROP CONSTRAINT IF EXISTS before it`,
      })),
    ];
    // One statement alone is done or not done; one that works concurrently leaves half an index, in no transaction.
    const isAlone = facts.statements.length < 2;
    return unguarded
      .filter((u) => isConcurrent(facts, u) || !(isAlone || state.inside(u)))
      .map((u): Hit => ({ at: u, what: u.what }));
  },
});

const CREATED = new Set(['table', 'index', 'foreign_table']);

function isConcurrent(facts: SqlFacts, { statement }: Occurrence): boolean {
  return facts.indexes.some((i) => i.statement === statement && i.concurrently && i.operation !== 'reindex');
}

/** It says IF EXISTS, or looks over a constraint that this text made. No other alteration can be run twice for sure. */
function isRepeatable(facts: SqlFacts, alter: AlterFact): boolean {
  if (GUARDABLE.has(alter.action)) return alter.ifExists;
  return (
    alter.action === 'validate_constraint' &&
    [...facts.alters, ...facts.constraints.map((c) => ({ ...c, member: c.name }))].some(
      (a) => a.statement < alter.statement && a.member === alter.member,
    )
  );
}

/** ON COMMIT DROP is only for temporary tables; on another the server refuses it, so it guards nothing. */
function isGuarded(facts: SqlFacts, creation: CreationFact): boolean {
  const refused =
    creation.objectType === 'table' &&
    facts.tables.some((t) => t.statement === creation.statement && t.droppedOnCommit && !t.temporary);
  return creation.guarded && !refused;
}

/** Each ADD CONSTRAINT uses up one DROP CONSTRAINT IF EXISTS of the same name before it. */
function addedTwice(facts: SqlFacts): readonly ConstraintFact[] {
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
