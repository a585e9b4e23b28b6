import { defineSqlRule, noConfig } from './define-sql-rule';

export const transactionControl = defineSqlRule({
  name: 'sql_transaction_control',
  logicRevision: 2,
  defaultLevel: 'forbid',
  why: 'COMMIT inside the text ends the dry run’s transaction: what follows is real, and what came before cannot be taken back.',
  config: noConfig,
  advice: ['Leave BEGIN, COMMIT, ROLLBACK and SAVEPOINT out: the change is committed in one transaction of its own.'],
  examples: {
    bad: 'UPDATE orders SET paid = true WHERE id = 1; COMMIT; DROP TABLE orders',
    good: "UPDATE orders SET note = 'COMMIT;' WHERE id = 1",
  },
  find: ({ transactionControl: found }) =>
    found.map((t) => ({ at: t, what: t.kind.toUpperCase().replaceAll('_', ' ') })),
});

/** A BEGIN that nothing ends. Of use where texts run outside our transaction. */
export const uncommittedTransaction = defineSqlRule({
  name: 'sql_uncommitted_transaction',
  logicRevision: 2,
  defaultLevel: 'confirm',
  why: 'A transaction left open holds its locks until the session ends.',
  config: noConfig,
  examples: { bad: 'BEGIN; CREATE TABLE archive (id bigint)', good: 'BEGIN; CREATE TABLE archive (id bigint); COMMIT' },
  find: ({ transactionControl: found }) => {
    let open: (typeof found)[number] | null = null;
    for (const t of found) {
      if (t.via.length > 0) continue;
      // A second BEGIN only warns: there is still one transaction.
      if (t.kind === 'begin' || t.kind === 'start') open ??= t;
      else if (t.kind === 'commit' || t.kind === 'rollback' || t.kind === 'prepare') open = t.chain ? t : null;
    }
    return open === null ? [] : [{ at: open, what: 'a transaction that is never ended' }];
  },
});
