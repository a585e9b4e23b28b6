import type { DiffInput } from '../../policy/contracts/diff';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import { joinParts, titleTable } from '../../policy/text/change-title';
import { counted } from '../../policy/text/counted';
import { ANY_TABLE, type TableName } from '../../policy/text/table-name';
import { casTable, type SqlCasFacts } from './facts/sql-cas-facts';
import { isListed } from './facts/safe-functions';
import type { SqlFacts, SqlStatement } from './facts/sql-facts';

/** `UPDATE invoices: 40 rows`: each statement with the tables that it changes, and the rows that the dry run counted. */
export function sqlTitle(facts: SqlFacts, _diff: DiffInput, staging: StagingRecord | null): string {
  const first = facts.statements[0];
  if (first === undefined) return 'SQL without a statement';
  // A query that calls a function which is not known to only read must not be missing from a title.
  const calls = facts.functionCalls.filter((call) => !isListed(call.function));
  const unknown = new Set([...facts.unmodelled, ...calls].map(({ statement }) => statement));
  const changing = facts.statements.filter(
    ({ index, readOnly }) => !readOnly || unknown.has(index) || tablesOf(facts, index).length > 0,
  );
  const named = changing.length > 0 ? changing : [first];
  return joinParts(named.map((statement) => statementTitle(facts, statement, staging)));
}

function statementTitle(facts: SqlFacts, statement: SqlStatement, staging: StagingRecord | null): string {
  const { index, command, sha } = statement;
  const made = [
    ...new Set(facts.creations.filter((each) => each.statement === index).map(({ name }) => tableText(name))),
  ];
  const tables = [...new Set(tablesOf(facts, index).map(tableText))].filter((table) => !made.includes(table));
  const objects = [made, tables]
    .filter((names) => names.length > 0)
    .map(joinParts)
    .join(' on ');
  const subject = objects === '' ? command : `${PREPOSITIONS[command] ?? command} ${objects}`;
  // Text that is executed but could not be read must not be missing from a title.
  const unread = facts.dynamicSql.some((dynamic) => dynamic.statement === index && !dynamic.constant);
  const what = unread ? `${subject} with dynamic SQL` : subject;
  const staged = staging?.statements[index];
  if (staged?.sha !== sha || staging?.reason === 'not_rehearsed' || !DML.has(command)) return what;
  return `${what}: ${counted(staged.rowCount, 'row')}`;
}

const DML: ReadonlySet<string> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE', 'COPY']);
const PREPOSITIONS: Readonly<Record<string, string>> = {
  INSERT: 'INSERT INTO',
  DELETE: 'DELETE FROM',
  MERGE: 'MERGE INTO',
  SELECT: 'SELECT that writes to',
};

/** Everything that one statement changes by name, except what it creates, in the order of the facts. */
function tablesOf(facts: SqlFacts, index: number): TableName[] {
  const of = <T extends { readonly statement: number }>(all: readonly T[]): T[] =>
    all.filter(({ statement }) => statement === index);
  return [
    ...of(facts.relations).flatMap(({ access, relation }) => (access === 'read' ? [] : [relation])),
    ...of(facts.drops).flatMap(({ objects }) => objects),
    ...of(facts.truncates).flatMap(({ tables }) => tables),
  ];
}

function tableText(table: TableName): string {
  return table.name === ANY_TABLE ? 'any table' : titleTable(table);
}

/** `UPDATE invoices: 2 rows, DELETE FROM orders: 1 row`: the rows that the document names. */
export function casTitle({ operations }: SqlCasFacts): string {
  const rows = new Map<string, number>();
  for (const { op, table } of operations) {
    const name = `${PREPOSITIONS[op.toUpperCase()] ?? op.toUpperCase()} ${titleTable(casTable(table))}`;
    rows.set(name, (rows.get(name) ?? 0) + 1);
  }
  return joinParts([...rows].map(([name, count]) => `${name}: ${counted(count, 'row')}`));
}
