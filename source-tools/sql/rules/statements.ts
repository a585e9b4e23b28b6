import { z } from 'zod';
import { isListed } from '../facts/rehearsable';
import type { DmlFact, SqlFacts, SqlStatement } from '../facts/sql-facts';
import { atStatement, defineSqlRule } from './define-sql-rule';

export const multiStatement = defineSqlRule({
  name: 'sql_multi_statement',
  logicRevision: 6,
  defaultLevel: 'confirm',
  why: 'A reviewer can miss an additional statement.',
  config: z.strictObject({ maxStatements: z.int().min(1).max(1000).default(1) }),
  examples: { bad: "SELECT ';'; DELETE FROM orders WHERE id > 1", good: "SELECT ';' /* ; */ -- ;" },
  find: (facts, { maxStatements }) =>
    facts.statements
      .slice(maxStatements)
      .filter((s) => !namesItsRows(s, facts.dml) && !onlyReads(s, facts))
      .map((s) => ({ at: atStatement(s), what: `${s.command} after statement ${maxStatements}` })),
});

/** INSERT, and a write that names its rows by a key: such statements often belong together, and each is easy to check. */
function namesItsRows({ index, command }: SqlStatement, dml: readonly DmlFact[]): boolean {
  if (command === 'INSERT') return true;
  return dml.some((d) => d.statement === index && d.via.length === 0 && d.keyValues !== null);
}

/** A SELECT of which each part and each function is known to only read, so that a reviewer who misses it approves nothing that changes. */
function onlyReads({ index, command, readOnly }: SqlStatement, { unmodelled, functionCalls }: SqlFacts): boolean {
  if (command !== 'SELECT' || !readOnly || unmodelled.some(({ statement }) => statement === index)) return false;
  return functionCalls.every((call) => call.statement !== index || isListed(call.function));
}

export const statementLimit = defineSqlRule({
  name: 'sql_statement_limit',
  logicRevision: 4,
  defaultLevel: 'confirm',
  why: 'A reviewer cannot check hundreds of statements.',
  config: z.strictObject({ maxStatements: z.int().min(1).max(1000).default(100) }),
  examples: { bad: 'SELECT 1; SELECT 2; SELECT 3', good: 'SELECT 1; SELECT 2', config: { maxStatements: 2 } },
  find: ({ statements }, { maxStatements }) => {
    const first = statements[maxStatements];
    if (first === undefined) return [];
    return [{ at: atStatement(first), what: `${statements.length} statements, more than ${maxStatements}` }];
  },
});
