import { defineSqlRule } from './define-sql-rule';

export const identifierTooLong = defineSqlRule({
  name: 'sql_identifier_too_long',
  logicRevision: 4,
  defaultLevel: 'advise',
  status: 'WARN',
  why: 'The server truncates names to 63 bytes, so two long names can refer to the same object.',
  examples: {
    bad: `DROP TABLE IF EXISTS ${'ordersarchive_'.repeat(5)}`,
    good: `DROP TABLE IF EXISTS ${'o'.repeat(63)}`,
  },
  find: ({ longIdentifiers }) => longIdentifiers.map((i) => ({ at: i, what: `a name of ${i.bytes} bytes` })),
});
