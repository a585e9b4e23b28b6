import { z } from 'zod';
import { shown } from '../../../policy/text/shown-name';
import { defineSqlRule, noConfig, type Hit } from './define-sql-rule';
import type { ConstraintFact, SqlFacts, SqlName } from '../facts/sql-facts';
import { shownName } from '../../../policy/text/table-name';
import { AssumeInTransaction, sameName, transactionState } from './transaction-state';

const Config = z.strictObject({ assumeInTransaction: AssumeInTransaction });
const onTable = (c: ConstraintFact): string => (c.table === null ? '' : ` on ${shownName(c.table)}`);
const added = (c: ConstraintFact): boolean => c.origin === 'add_constraint' || c.origin === 'add_column';

export const constraintNotValid = defineSqlRule({
  name: 'sql_constraint_not_valid',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'Checking every old row of a live table holds a lock against its writers; a foreign key holds one on both tables.',
  config: Config,
  advice: ['Add it NOT VALID, and VALIDATE CONSTRAINT in a later transaction.'],
  examples: {
    bad: 'ALTER TABLE orders ADD CONSTRAINT positive CHECK (total >= 0)',
    good: 'ALTER TABLE orders ADD CONSTRAINT positive CHECK (total >= 0) NOT VALID',
  },
  find: (facts, { assumeInTransaction }) => {
    const state = transactionState(facts, assumeInTransaction);
    const checked = facts.constraints.filter((c) => added(c) && !state.isNew(c.table, c));
    // A CHECK that comes with a new column looks at nothing but its default.
    const scans = checked.filter(
      (c) => !c.notValid && (c.type === 'foreign_key' || (c.type === 'check' && c.origin === 'add_constraint')),
    );
    const validated = checked.filter(
      (c) =>
        c.notValid &&
        facts.alters.some(
          (a) => validates(a, c) && state.transaction(a) !== null && state.transaction(a) === state.transaction(c),
        ),
    );
    return [
      ...scans.map((c) => ({ at: c, what: `${c.type.replace('_', ' ')}${onTable(c)} without NOT VALID` })),
      ...validated.map((c) => ({
        at: c,
        what: `constraint ${shown(c.name ?? '')}${onTable(c)} is validated in the transaction that adds it`,
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
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'A key added to a live table builds its index under a lock that shuts everyone out.',
  config: Config,
  advice: ['CREATE UNIQUE INDEX CONCURRENTLY first, then ADD CONSTRAINT … USING INDEX.'],
  examples: {
    bad: 'ALTER TABLE orders ADD CONSTRAINT one_ref UNIQUE (ref)',
    good: 'ALTER TABLE orders ADD CONSTRAINT one_ref UNIQUE USING INDEX one_ref_idx',
  },
  find: (facts, { assumeInTransaction }) => {
    const state = transactionState(facts, assumeInTransaction);
    return facts.constraints
      .filter(
        (c) =>
          added(c) &&
          !c.usingIndex &&
          ['unique', 'primary_key', 'exclusion'].includes(c.type) &&
          !state.isNew(c.table, c),
      )
      .map((c) => ({ at: c, what: `${c.type.replace('_', ' ')}${onTable(c)}` }));
  },
});

export const onDeleteCascade = defineSqlRule({
  name: 'sql_on_delete_cascade',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'From then on a DELETE of one row takes rows of other tables with it, and no statement says so.',
  config: noConfig,
  examples: {
    bad: 'CREATE TABLE lines (order_id bigint REFERENCES orders ON DELETE CASCADE)',
    good: 'CREATE TABLE lines (order_id bigint REFERENCES orders ON DELETE RESTRICT)',
  },
  find: ({ constraints }) =>
    constraints.filter((c) => c.onDeleteCascade).map((c) => ({ at: c, what: `ON DELETE CASCADE${onTable(c)}` })),
});

export const setNotNull = defineSqlRule({
  name: 'sql_set_not_null',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'SET NOT NULL reads the whole table under an exclusive lock.',
  config: z.strictObject({ assumeInTransaction: AssumeInTransaction, pgVersion: z.int().min(9).max(99).default(18) }),
  advice: ['Add CHECK (column IS NOT NULL) NOT VALID, validate it in another transaction, then SET NOT NULL.'],
  examples: {
    bad: 'ALTER TABLE orders ALTER COLUMN note SET NOT NULL',
    good: 'ALTER TABLE orders VALIDATE CONSTRAINT orders_note_not_null; ALTER TABLE orders ALTER COLUMN note SET NOT NULL',
  },
  find: (facts, { assumeInTransaction, pgVersion }) => {
    const state = transactionState(facts, assumeInTransaction);
    return facts.alters
      .filter((a) => a.action === 'set_not_null' && a.objectType === 'table' && a.object !== null && a.member !== null)
      .filter(
        (a) =>
          !state.isNew(a.object, a) &&
          !(pgVersion >= 12 && isProven(facts, a.object as SqlName, a.member as string, a.statement)),
      )
      .map((a): Hit => ({
        at: a,
        what: `SET NOT NULL of ${shown(a.member ?? '')} on ${shownName(a.object as SqlName)}`,
      }));
  },
});

/** A validated CHECK (column IS NOT NULL) spares the scan: one that this text added, or one named as PostgreSQL names them. */
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
