import { z } from 'zod';
import { shown } from '../../../policy/text/shown-name';
import { defineSqlRule, type Hit } from './define-sql-rule';
import type { ConstraintFact, SqlFacts, SqlName } from '../facts/sql-facts';
import { shownName } from '../../../policy/text/table-name';
import { sameName } from '../facts/same-name';
import { AssumeInTransaction, TransactionConfig, transactionState } from './transaction-state';

const onTable = (c: ConstraintFact): string => (c.table === null ? '' : ` on ${shownName(c.table)}`);
/** A constraint of a domain is validated in all tables that use the domain. */
const isAdded = (c: ConstraintFact): boolean =>
  c.origin === 'add_constraint' || c.origin === 'add_column' || c.origin === 'domain_alter';

export const constraintNotValid = defineSqlRule({
  name: 'sql_constraint_not_valid',
  logicRevision: 7,
  defaultLevel: 'confirm',
  why: 'Validating all existing rows blocks writes to the table; a foreign key also locks the referenced table.',
  config: TransactionConfig,
  advice: ['Add the constraint as NOT VALID, and run VALIDATE CONSTRAINT in a later transaction.'],
  examples: {
    bad: 'ALTER TABLE orders ADD CONSTRAINT positive CHECK (total >= 0)',
    good: 'ALTER TABLE orders ADD CONSTRAINT positive CHECK (total >= 0) NOT VALID',
  },
  find: (facts, { assumeInTransaction }) => {
    const state = transactionState(facts, assumeInTransaction);
    const added = facts.constraints.filter((c) => isAdded(c) && !state.isNew(c.table, c));
    // A CHECK on a new column too: PostgreSQL reads all rows, whether the column has a default or not.
    const scans = added.filter((c) => !c.notValid && (c.type === 'foreign_key' || c.type === 'check'));
    const validated = added.filter(
      (c) =>
        c.notValid &&
        facts.alters.some(
          (a) => validates(a, c) && state.transaction(a) !== null && state.transaction(a) === state.transaction(c),
        ),
    );
    const enforced = facts.alters.filter((a) => a.action === 'enforce_constraint');
    return [
      ...enforced.map((a) => ({
        at: a,
        what: `constraint ${shown(a.member ?? '')} is enforced for all existing rows`,
      })),
      ...scans.map((c) => ({ at: c, what: `${c.type.replace('_', ' ')}${onTable(c)} without NOT VALID` })),
      ...validated.map((c) => ({
        at: c,
        what: `constraint ${shown(c.name ?? '')}${onTable(c)} is validated in the same transaction that adds it`,
      })),
    ];
  },
});

function validates(a: SqlFacts['alters'][number], c: ConstraintFact): boolean {
  return (
    a.action === 'validate_constraint' &&
    a.member === c.name &&
    a.object !== null &&
    c.table !== null &&
    sameName(a.object, c.table)
  );
}

export const uniqueConstraint = defineSqlRule({
  name: 'sql_unique_constraint',
  logicRevision: 5,
  defaultLevel: 'confirm',
  why: 'Adding a unique, primary key or exclusion constraint builds its index under a lock that blocks reads and writes.',
  config: TransactionConfig,
  advice: ['Run CREATE UNIQUE INDEX CONCURRENTLY first, then ADD CONSTRAINT … USING INDEX.'],
  examples: {
    bad: 'ALTER TABLE orders ADD CONSTRAINT one_ref UNIQUE (ref)',
    good: 'ALTER TABLE orders ADD CONSTRAINT one_ref UNIQUE USING INDEX one_ref_idx',
  },
  find: (facts, { assumeInTransaction }) => {
    const state = transactionState(facts, assumeInTransaction);
    return facts.constraints
      .filter(
        (c) =>
          isAdded(c) &&
          !c.usingIndex &&
          ['unique', 'primary_key', 'exclusion'].includes(c.type) &&
          !state.isNew(c.table, c),
      )
      .map((c) => ({ at: c, what: `${c.type.replace('_', ' ')}${onTable(c)}` }));
  },
});

export const onDeleteCascade = defineSqlRule({
  name: 'sql_on_delete_cascade',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'A later DELETE of one row also deletes rows of other tables, which the statement does not show.',
  examples: {
    bad: 'CREATE TABLE lines (order_id bigint REFERENCES orders ON DELETE CASCADE)',
    good: 'CREATE TABLE lines (order_id bigint REFERENCES orders ON DELETE RESTRICT)',
  },
  find: ({ constraints }) =>
    constraints.filter((c) => c.onDeleteCascade).map((c) => ({ at: c, what: `ON DELETE CASCADE${onTable(c)}` })),
});

export const setNotNull = defineSqlRule({
  name: 'sql_set_not_null',
  logicRevision: 6,
  defaultLevel: 'confirm',
  why: 'SET NOT NULL scans the full table under an exclusive lock.',
  config: z.strictObject({
    assumeInTransaction: AssumeInTransaction,
    pgVersion: z
      .int()
      .min(9)
      .max(99)
      .default(18)
      .describe('Major version of the server. From 12 on, a validated CHECK (column IS NOT NULL) saves the scan.'),
  }),
  advice: ['Add CHECK (column IS NOT NULL) NOT VALID, validate it in another transaction, then SET NOT NULL.'],
  examples: {
    bad: 'ALTER TABLE orders ALTER COLUMN note SET NOT NULL',
    good: 'ALTER TABLE orders VALIDATE CONSTRAINT orders_note_not_null; ALTER TABLE orders ALTER COLUMN note SET NOT NULL',
  },
  find: (facts, { assumeInTransaction, pgVersion }) => {
    const state = transactionState(facts, assumeInTransaction);
    const added = facts.constraints.filter(
      (c) => c.type === 'not_null' && c.origin === 'add_constraint' && !c.notValid && !state.isNew(c.table, c),
    );
    const set = facts.alters.flatMap((a): readonly Hit[] => {
      const { object, member } = a;
      if (a.action !== 'set_not_null' || a.objectType !== 'table' || object === null || member === null) return [];
      if (state.isNew(object, a) || (pgVersion >= 12 && isProven(facts, object, member, a.statement))) return [];
      return [{ at: a, what: `SET NOT NULL of ${shown(member)} on ${shownName(object)}` }];
    });
    return [
      ...added.map((c) => ({
        at: c,
        what: `NOT NULL of ${shown(c.notNullColumn ?? '')}${onTable(c)} without NOT VALID`,
      })),
      ...set,
    ];
  },
});

/** True if a validated CHECK (column IS NOT NULL) makes the scan unnecessary: one that this text adds, or one with PostgreSQL's default name. */
function isProven(facts: SqlFacts, table: SqlName, column: string, statement: number): boolean {
  const validated = facts.alters
    .filter(
      (a) =>
        a.action === 'validate_constraint' && a.statement < statement && a.object !== null && sameName(a.object, table),
    )
    .map((a) => a.member);
  if (validated.includes(`${table.name}_${column}_not_null`)) return true;
  return facts.constraints.some(
    (c) =>
      c.notNullColumn === column &&
      c.name !== null &&
      validated.includes(c.name) &&
      c.table !== null &&
      sameName(c.table, table),
  );
}
