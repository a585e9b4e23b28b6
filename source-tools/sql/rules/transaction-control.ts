import { defineSqlRule } from './define-sql-rule';

export const transactionControl = defineSqlRule({
  name: 'sql_transaction_control',
  logicRevision: 4,
  defaultLevel: 'forbid',
  why: 'COMMIT in the text ends the transaction of the dry run: earlier statements become permanent and later ones run for real.',
  advice: ['Remove BEGIN, COMMIT, ROLLBACK and SAVEPOINT: the change is committed in its own transaction.'],
  examples: {
    bad: 'UPDATE orders SET paid = true WHERE id = 1; COMMIT; DROP TABLE orders',
    good: "UPDATE orders SET note = 'COMMIT;' WHERE id = 1",
  },
  find: ({ transactionControl: found }) =>
    found.map((t) => ({ at: t, what: t.kind.toUpperCase().replaceAll('_', ' ') })),
});

/** A BEGIN without an end. Useful for texts that do not run inside the transaction of the commit. */
export const uncommittedTransaction = defineSqlRule({
  name: 'sql_uncommitted_transaction',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'An open transaction keeps its locks until the session ends.',
  examples: { bad: 'BEGIN; CREATE TABLE archive (id bigint)', good: 'BEGIN; CREATE TABLE archive (id bigint); COMMIT' },
  find: ({ transactionControl: found }) => {
    let open: (typeof found)[number] | null = null;
    for (const t of found) {
      if (t.via.length > 0) continue;
      // In PostgreSQL a second BEGIN only gives a warning.
      if (t.kind === 'begin' || t.kind === 'start') open ??= t;
      else if (t.kind === 'commit' || t.kind === 'rollback' || t.kind === 'prepare') open = t.chain ? t : null;
    }
    return open === null ? [] : [{ at: open, what: 'a transaction that is not ended' }];
  },
});
