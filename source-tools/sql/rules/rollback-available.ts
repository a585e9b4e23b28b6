import { shown } from '../../../policy/text/shown-name';
import { defineSqlRule, noConfig, type Hit } from './define-sql-rule';
import { shownName } from '../../../policy/text/table-name';

/** What a later change cannot undo from the rows that the staging record saw. */
export const rollbackAvailable = defineSqlRule({
  name: 'sql_rollback_available',
  logicRevision: 2,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'Once committed, this cannot be taken back with another statement: only a backup brings it back.',
  config: noConfig,
  advice: ['Take a backup of what goes, or rename it first and drop it later.'],
  examples: { bad: 'ALTER TABLE orders DROP COLUMN note', good: "UPDATE orders SET note = '' WHERE id = 7" },
  find: (facts) => {
    const lost: Hit[] = [
      ...facts.drops
        .filter((d) => HOLDS_DATA.has(d.objectType))
        .map((d) => ({ at: d, what: `a dropped ${d.objectType.replaceAll('_', ' ')} is gone with its data` })),
      ...facts.truncates.map((t) => ({
        at: t,
        what: `the rows of ${t.tables.map(shownName).join(', ')} are not captured`,
      })),
      ...facts.alters
        .filter((a) => a.action === 'drop_column')
        .map((a) => ({ at: a, what: `the column ${shown(a.member ?? '')} is gone with its data` })),
      ...facts.alters
        .filter((a) => a.action === 'alter_column_type')
        .map((a) => ({ at: a, what: `the old values of ${shown(a.member ?? '')} are rewritten` })),
      ...facts.dynamicSql.filter((d) => !d.constant).map((d) => ({ at: d, what: 'SQL made at run time' })),
    ];
    return lost;
  },
});

const HOLDS_DATA = new Set([
  'table',
  'matview',
  'sequence',
  'schema',
  'database',
  'tablespace',
  'owned',
  'type',
  'domain',
  'extension',
  'foreign_table',
]);
