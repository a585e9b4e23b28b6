import { z } from 'zod';
import { shown } from '../../shown-name';
import { defineSqlRule, type Hit } from '../define-sql-rule';
import type { AlterFact, ConstraintFact, CreationFact, Occurrence, SqlFacts } from '../sql-facts';
import { shownName } from '../sql-name';
import { AssumeInTransaction, sameName, transactionState } from '../transaction-state';

/** Alterations that fail when they are run again and have no IF EXISTS that would help. */
const NEVER_GUARDED = new Set(['enable_row_security', 'disable_rls', 'force_row_security', 'no_force_rls']);
const GUARDABLE = new Set(['add_column', 'drop_column', 'drop_constraint']);

export const robustStatements = defineSqlRule({
  name: 'sql_robust_statements',
  pack: 'sql-postgres-style',
  logicRevision: 2,
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
    // One statement alone is done or not done.
    if (facts.statements.length < 2) return [];
    const state = transactionState(facts, assumeInTransaction);
    const unguarded: (Occurrence & { readonly what: string })[] = [
      ...facts.creations
        .filter((c) => CREATED.has(c.objectType) && !isGuarded(facts, c))
        .map((c) => ({
          ...c,
          what: `CREATE ${c.objectType.toUpperCase()} ${shownName(c.name)} without IF NOT EXISTS`,
        })),
      ...facts.drops
        .filter((d) => !d.ifExists)
        .map((d) => ({ ...d, what: `DROP ${d.objectType.toUpperCase()} without IF EXISTS` })),
      ...facts.alters
        .filter((a) => (GUARDABLE.has(a.action) && !a.ifExists) || NEVER_GUARDED.has(a.action))
        .map((a) => ({ ...a, what: `${a.action.toUpperCase().replaceAll('_', ' ')} without a guard` })),
      ...addedTwice(facts).map((c) => ({
        ...c,
        what: `ADD CONSTRAINT ${shown(c.name ?? '')} without DROP CONSTRAINT IF EXISTS before it`,
      })),
    ];
    return unguarded.filter((u) => !state.inside(u)).map((u): Hit => ({ at: u, what: u.what }));
  },
});

const CREATED = new Set(['table', 'index', 'foreign_table']);

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
