import { claimedRows } from '../../../policy/text/claimed-rows';
import { shownName } from '../../../policy/text/table-name';
import type { Container, DmlFact } from '../facts/sql-facts';
import { defineSqlRule, type Hit } from './define-sql-rule';

/** Statements in these run later, when other statements use them, and not in this change. */
const LATER: ReadonlySet<Container> = new Set(['function_body', 'rule', 'view']);

export const unkeyedWrite = defineSqlRule({
  name: 'sql_unkeyed_write',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'A condition that does not name its rows can select many; without a claim their number cannot be compared.',
  reads: ['bytes', 'facts', 'metadata'],
  advice: [
    'Compare a key of the table with constants (id = 7, id IN (7, 8)), or declare the number of rows in affected_rows.',
  ],
  examples: {
    bad: 'DELETE FROM orders USING customers c WHERE c.id = 7 AND length(orders.note) >= 0',
    good: 'DELETE FROM orders USING customers c WHERE orders.id = 7 AND length(c.name) >= 0',
  },
  find: ({ dml }, _config, { diff }) => {
    const isClaimed = claimedRows(diff.metadata) !== null;
    return dml
      .filter((d) => !d.via.some((container) => LATER.has(container)))
      .flatMap((d): readonly Hit[] => {
        const what = problemOf(d, isClaimed);
        return what === null ? [] : [{ at: d, what: `${d.kind.toUpperCase()} on ${shownName(d.table)} ${what}` }];
      });
  },
});

function problemOf(d: DmlFact, isClaimed: boolean): string | null {
  if (d.kind === 'insert')
    return d.onConflictUpdate && d.valueRows === null ? 'updates as many rows as its query returns' : null;
  if ((d.kind !== 'update' && d.kind !== 'delete') || d.where !== 'present' || d.keyValues !== null) return null;
  if (!d.restricted) return 'with a condition that is not known to restrict the table';
  return isClaimed ? null : 'with a condition that does not name its rows, and no affected_rows';
}
