import { z } from 'zod';
import { atStatement, defineSqlRule, type Hit } from './define-sql-rule';
import type { SettingFact, SqlFacts } from '../facts/sql-facts';
import { shownName } from '../../../policy/text/table-name';

export const lockTable = defineSqlRule({
  name: 'sql_lock_table',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'Other sessions that need the table wait until the transaction ends.',
  examples: { bad: 'LOCK TABLE orders IN ACCESS EXCLUSIVE MODE', good: 'SELECT "lock table" FROM orders' },
  find: ({ locks }) =>
    locks.map((l) => ({ at: l, what: `LOCK TABLE ${l.tables.map(shownName).join(', ')} in ${l.mode} mode` })),
});

export const vacuumFull = defineSqlRule({
  name: 'sql_vacuum_full',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'VACUUM FULL and CLUSTER rewrite the table under a lock that blocks reads and writes.',
  examples: { bad: 'VACUUM (FULL) orders', good: 'VACUUM (FULL false, ANALYZE) orders' },
  find: ({ maintenance }) =>
    maintenance
      .filter((m) => m.what === 'vacuum_full' || m.what === 'cluster')
      .map((m) => ({ at: m, what: m.what === 'cluster' ? 'CLUSTER' : 'VACUUM FULL' })),
});

/** Commands that take table-level locks. The row locks of DML do not count. */
const LOCKING = /^(ALTER|CREATE|DROP|TRUNCATE|LOCK|REINDEX|CLUSTER|VACUUM|REFRESH|COMMENT|GRANT|REVOKE|SECURITY)\b/;

export const timeoutsRequired = defineSqlRule({
  name: 'sql_timeouts_required',
  logicRevision: 5,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'Without a timeout, a DDL statement that waits for a lock also blocks all later queries on the table.',
  config: z.strictObject({
    lockTimeout: z.boolean().default(true).describe('Whether `lock_timeout` must be set.'),
    statementTimeout: z.boolean().default(true).describe('Whether `statement_timeout` must be set.'),
  }),
  advice: ["Run SET lock_timeout = '5s' and SET statement_timeout = '30s' before the first DDL statement."],
  examples: {
    bad: "ALTER TABLE orders ADD COLUMN note text; SET lock_timeout = '1s'",
    good: "SET lock_timeout = '1s'; SET LOCAL statement_timeout = '5s'; ALTER TABLE orders ADD COLUMN note text",
  },
  find: (facts, { lockTimeout, statementTimeout }) => {
    const first = facts.statements.find((s) => LOCKING.test(s.command));
    if (first === undefined) return [];
    const at = atStatement(first);
    const missing = (name: string): readonly Hit[] =>
      isSetBefore(facts, name, first.index) ? [] : [{ at, what: `no ${name} before the first ${first.command}` }];
    return [...(lockTimeout ? missing('lock_timeout') : []), ...(statementTimeout ? missing('statement_timeout') : [])];
  },
});

function isSetBefore(facts: SqlFacts, name: string, statement: number): boolean {
  const ofSession = ({ scope }: SettingFact): boolean => scope === 'session' || scope === 'local';
  // The last one counts: RESET and SET … TO DEFAULT may take the limit away. `0`, `0s` and `0ms` are no limit.
  const last = facts.settings.findLast(
    (s) => s.statement < statement && ofSession(s) && (s.name === name || s.name === '*'),
  );
  return last?.name === name && last.change === 'set' && Number.parseFloat(last.value ?? '') > 0;
}
