import { z } from 'zod';
import { shown } from '../../../policy/text/shown-name';
import { parseName, shownName, type TableName } from '../../../policy/text/table-name';
import { wordList } from '../../../policy/text/word-list';
import { isListed, isRandomUuid } from '../facts/safe-functions';
import type { Occurrence, RelationFact, SettingFact, SqlStatement } from '../facts/sql-facts';
import { atStatement, defineSqlRule, type Hit } from './define-sql-rule';

const FunctionName = z
  .string()
  .min(1)
  .max(130)
  .refine((text) => parseName(text) !== null, 'expected function or schema.function');

const Config = z.strictObject({
  kinds: z
    .array(z.string().regex(/^[A-Z][A-Z ]{1,60}$/, 'expected a command in upper case, such as CREATE INDEX'))
    .max(200)
    .default(['SELECT', 'INSERT', 'UPDATE', 'DELETE'])
    .describe(
      'Kinds of statements that may commit without a question, as the server names them: `UPDATE`, `CREATE INDEX`.',
    ),
  functions: z
    .array(FunctionName)
    .max(500)
    .default([])
    .describe('Functions of your own that may be called, written as the statements call them.'),
});

/** Settings that change neither what later statements mean nor with which rights they run. sql_lexer_settings reads the last two. */
const HARMLESS_SETTINGS: ReadonlySet<string> = new Set(
  wordList(`lock_timeout statement_timeout transaction_timeout idle_in_transaction_session_timeout work_mem maintenance_work_mem
    client_min_messages application_name standard_conforming_strings client_encoding`),
);

/** Commands with new rows. If a random UUID is not the whole value of a column of one, a part of the statement is not modelled. */
const INSERTS: ReadonlySet<string> = new Set(['INSERT', 'MERGE']);

/**
 * An allowlist. Of SELECT, INSERT, UPDATE, DELETE and MERGE each clause and option must be known too; of another kind that the bundle
 * names, only the called functions and, for SET, the settings are examined here.
 */
export const statementNotAllowed = defineSqlRule({
  name: 'sql_statement_not_allowed',
  logicRevision: 5,
  defaultLevel: 'confirm',
  why: 'Only listed kinds of statements, with clauses and functions whose effects are known, may commit without a question.',
  config: Config,
  examples: {
    bad: 'CREATE POLICY all_rows ON orders USING (true)',
    good: 'UPDATE orders SET paid = true WHERE id = 7',
  },
  find: (facts, config) => {
    const functions = config.functions.flatMap((text) => parseName(text) ?? []);
    const inserting = new Set(facts.statements.filter(({ command }) => INSERTS.has(command)).map((s) => s.index));
    const examined = new Set(facts.statements.filter((s) => config.kinds.includes(s.command)).map((s) => s.index));
    const isExamined = ({ statement }: Occurrence): boolean => examined.has(statement);
    return [
      ...facts.statements.filter((s) => !examined.has(s.index)).map(notListed),
      ...facts.settings
        .filter((s) => isExamined(s) && changesSession(s))
        .map((s) => ({
          at: s,
          what: `the setting ${shown(s.name)} may change what later statements mean`,
        })),
      ...facts.unmodelled.filter(isExamined).map((part) => ({ at: part, what: part.reason })),
      ...facts.relations
        .filter((r) => isExamined(r) && isOfSystem(r))
        .map((r) => ({
          at: r,
          what: `${shownName(r.relation)} belongs to the system: it shows settings, sessions, roles or the schema`,
        })),
      ...facts.functionCalls
        .filter((c) => isExamined(c) && !isListed(c.function) && !functions.some((f) => isSame(f, c.function)))
        .filter((c) => !(inserting.has(c.statement) && c.argCount === 0 && isRandomUuid(c.function)))
        .map((c) => ({
          at: c,
          what: `${shownName(c.function)}() is not on the list of functions without side effects`,
        })),
    ];
  },
});

function changesSession({ name, scope }: SettingFact): boolean {
  return (scope === 'session' || scope === 'local') && !HARMLESS_SETTINGS.has(name);
}

function notListed(statement: SqlStatement): Hit {
  const what = `${shown(statement.command)} is not one of the kinds that may commit without a question`;
  return { at: atStatement(statement), what };
}

function isOfSystem({ relation: { schema, name } }: RelationFact): boolean {
  return schema === null ? name.startsWith('pg_') : schema === 'information_schema' || schema.startsWith('pg_');
}

/** A name without a schema allows only calls without a schema. */
function isSame(a: TableName, b: TableName): boolean {
  return a.schema === b.schema && a.name === b.name;
}
