import { z } from 'zod';
import { isListed } from '../facts/safe-functions';
import type { SqlFacts } from '../facts/sql-facts';
import { atStatement, defineSqlRule } from './define-sql-rule';

export const multiStatement = defineSqlRule({
  name: 'sql_multi_statement',
  logicRevision: 6,
  defaultLevel: 'confirm',
  why: 'A reviewer can miss an additional statement.',
  config: z.strictObject({
    maxStatements: z
      .int()
      .min(1)
      .max(1000)
      .default(1)
      .describe(
        'How many statements pass. Each further one asks unless it only reads, is an INSERT, or names its rows by a key.',
      ),
  }),
  examples: { bad: "SELECT ';'; DELETE FROM orders WHERE id > 1", good: "SELECT ';' /* ; */ -- ;" },
  find: (facts, { maxStatements }) => {
    const harmless = new Set([...namingTheirRows(facts), ...onlyReading(facts)]);
    return facts.statements
      .slice(maxStatements)
      .filter(({ index }) => !harmless.has(index))
      .map((s) => ({ at: atStatement(s), what: `${s.command} after statement ${maxStatements}` }));
  },
});

/** INSERT, and a write that names its rows by a key: such statements often belong together, and each is easy to check. */
function namingTheirRows({ statements, dml }: SqlFacts): readonly number[] {
  return [
    ...statements.filter(({ command }) => command === 'INSERT').map(({ index }) => index),
    ...dml.filter(({ via, keyValues }) => via.length === 0 && keyValues !== null).map(({ statement }) => statement),
  ];
}

/** SELECTs of which each part and each function is known to only read. A reviewer who misses one approves nothing that changes. */
function onlyReading({ statements, unmodelled, functionCalls, selects }: SqlFacts): readonly number[] {
  const others = new Set(
    [
      ...unmodelled,
      ...functionCalls.filter((call) => !isListed(call.function)),
      ...selects.filter(({ locksRows }) => locksRows),
    ].map(({ statement }) => statement),
  );
  return statements
    .filter(({ index, command, readOnly }) => command === 'SELECT' && readOnly && !others.has(index))
    .map(({ index }) => index);
}

export const statementLimit = defineSqlRule({
  name: 'sql_statement_limit',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'A reviewer cannot check hundreds of statements.',
  config: z.strictObject({
    maxStatements: z.int().min(1).max(1000).default(100).describe('Maximum number of statements.'),
  }),
  examples: { bad: 'SELECT 1; SELECT 2; SELECT 3', good: 'SELECT 1; SELECT 2', config: { maxStatements: 2 } },
  find: ({ statements }, { maxStatements }) => {
    const first = statements[maxStatements];
    if (first === undefined) return [];
    return [{ at: atStatement(first), what: `${statements.length} statements, more than ${maxStatements}` }];
  },
});
