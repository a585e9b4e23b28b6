import { shown } from '../../../policy/text/shown-name';
import { defineSqlRule, type Hit } from './define-sql-rule';
import { shownName } from '../../../policy/text/table-name';
import { wordList } from '../../../policy/text/word-list';

/** Changes that cannot be undone from the rows captured in the staging record. */
export const rollbackAvailable = defineSqlRule({
  name: 'sql_rollback_available',
  logicRevision: 4,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'After the commit this cannot be undone with SQL; the data can only be restored from a backup.',
  advice: ['Back up the affected data, or rename the object now and drop it later.'],
  examples: { bad: 'ALTER TABLE orders DROP COLUMN note', good: "UPDATE orders SET note = '' WHERE id = 7" },
  find: (facts) => {
    const lost: Hit[] = [
      ...facts.drops
        .filter((d) => CONTAINS_DATA.has(d.objectType))
        .map((d) => ({ at: d, what: `the dropped ${d.objectType.replaceAll('_', ' ')} is lost with its data` })),
      ...facts.truncates.map((t) => ({
        at: t,
        what: `the rows of ${t.tables.map(shownName).join(', ')} are not captured`,
      })),
      ...facts.alters
        .filter((a) => a.action === 'drop_column')
        .map((a) => ({ at: a, what: `the column ${shown(a.member ?? '')} is lost with its data` })),
      ...facts.alters
        .filter((a) => a.action === 'alter_column_type')
        .map((a) => ({ at: a, what: `the existing values of ${shown(a.member ?? '')} are converted` })),
      ...facts.dynamicSql.filter((d) => !d.constant).map((d) => ({ at: d, what: 'SQL that is built at run time' })),
    ];
    return lost;
  },
});

const CONTAINS_DATA = new Set(
  wordList('table matview sequence schema database tablespace owned type domain extension foreign_table'),
);
