import { shown } from '../../../policy/text/shown-name';
import { defineSqlRule, type Hit } from './define-sql-rule';
import type { IndexFact, SqlFacts } from '../facts/sql-facts';
import { shownName } from '../../../policy/text/table-name';
import { TransactionConfig, transactionState } from './transaction-state';

function describe(i: IndexFact): string {
  const subject = i.name !== null && i.name !== '' ? ` ${shown(i.name)}` : '';
  const command = i.operation === 'reindex' ? 'REINDEX' : `${i.operation.toUpperCase()} INDEX`;
  return `${command}${subject}${i.table === null ? '' : ` on ${shownName(i.table)}`}`;
}

/** REINDEX SYSTEM does not support CONCURRENTLY. */
const blocks = (i: IndexFact): boolean => !i.concurrently && i.scope !== 'system';

export const notConcurrent = defineSqlRule({
  name: 'sql_not_concurrent',
  logicRevision: 5,
  defaultLevel: 'confirm',
  why: 'Creating, dropping or rebuilding an index, or detaching a partition, blocks writes to the table until it has finished.',
  config: TransactionConfig,
  advice: ['Use CONCURRENTLY, and run the statement manually outside a transaction.'],
  examples: {
    bad: 'CREATE INDEX by_note ON orders (note)',
    good: 'CREATE TABLE fresh (note text); CREATE INDEX by_note ON fresh (note)',
  },
  find: (facts, { assumeInTransaction }) => {
    const state = transactionState(facts, assumeInTransaction);
    return [
      ...facts.indexes
        .filter((i) => blocks(i) && !state.isNew(i.table, i))
        .map((i) => ({ at: i, what: `${describe(i)} without CONCURRENTLY` })),
      ...facts.alters
        .filter((a) => a.action === 'detach_partition' && !a.concurrently)
        .map((a) => ({ at: a, what: 'DETACH PARTITION without CONCURRENTLY' })),
    ];
  },
});

export const concurrentlyInTransaction = defineSqlRule({
  name: 'sql_concurrently_in_transaction',
  logicRevision: 5,
  defaultLevel: 'confirm',
  why: 'CONCURRENTLY cannot run inside a transaction, and a text of several statements is one transaction.',
  config: TransactionConfig,
  examples: {
    bad: 'BEGIN; CREATE INDEX CONCURRENTLY by_note ON orders (note)',
    good: 'CREATE INDEX CONCURRENTLY by_note ON orders (note)',
  },
  // A text of one statement can run outside a transaction.
  find: (facts, { assumeInTransaction }) =>
    facts.statements.length === 1 ? [] : concurrentInside(facts, assumeInTransaction),
});

function concurrentInside(facts: SqlFacts, assumeInTransaction: boolean): readonly Hit[] {
  const state = transactionState(facts, assumeInTransaction);
  return [
    ...facts.indexes
      .filter((i) => i.concurrently && state.inside(i))
      .map((i) => ({ at: i, what: `${describe(i)} CONCURRENTLY inside a transaction` })),
    ...facts.alters
      .filter((a) => a.concurrently && state.inside(a))
      .map((a) => ({ at: a, what: 'DETACH PARTITION CONCURRENTLY inside a transaction' })),
  ];
}
