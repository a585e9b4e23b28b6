/** Statements and expressions in the body of a PL/pgSQL function, for the check before a rehearsal. */
import { wordList } from '../../../policy/text/word-list';
import { missingDefaults } from './declared-defaults';
import { assignedToNew } from './new-row';
import { assignedExpressions } from './plpgsql';
import { parsePlpgsqlBody, parseStatements, type Tree } from './parser';
import { executedBy, type Executed } from './rehearsable';
import { decodedSource } from './source';
import { number, text, typed } from './tree';

/** Parts of a body that only control its flow. Loops and dynamic SQL are not listed: what they execute is not bounded. */
const PARTS = new Set(
  wordList(`PLpgSQL_function PLpgSQL_stmt_block PLpgSQL_stmt_assign PLpgSQL_stmt_if PLpgSQL_if_elsif PLpgSQL_stmt_case PLpgSQL_case_when
  PLpgSQL_stmt_return PLpgSQL_stmt_return_query PLpgSQL_stmt_return_next PLpgSQL_stmt_raise PLpgSQL_raise_option
  PLpgSQL_stmt_assert PLpgSQL_stmt_execsql PLpgSQL_stmt_perform PLpgSQL_stmt_getdiag PLpgSQL_diag_item PLpgSQL_exception_block
  PLpgSQL_exception PLpgSQL_condition PLpgSQL_var PLpgSQL_rec PLpgSQL_row PLpgSQL_recfield PLpgSQL_arrayelem PLpgSQL_type
  PLpgSQL_expr`),
);

/** `definition`: the whole CREATE FUNCTION statement (`pg_get_functiondef`). `body`: its body (`prosrc`). */
export function executedByPlpgsql(definition: string, body: string, place: string): readonly Executed[] {
  const parsed = parsePlpgsqlBody(definition);
  if (!parsed.ok || parsed.value.length === 0) return [unread(place)];
  const source = decodedSource(body, { startLine: 1, startColumn: 1, endLine: 1, endColumn: 1 });
  const defaults = missingDefaults(parsed.value, source);
  const out = defaults.flatMap(({ expression: value }) => executedBySql(`SELECT ${value}`, place));
  out.push({ ...NOTHING, assigns: assignedToNew(parsed.value) });
  visit(parsed.value, place, out);
  return out;
}

/** `body`: the statements of a function in LANGUAGE sql. */
export function executedBySql(body: string, place: string): readonly Executed[] {
  const parsed = parseStatements(body);
  return parsed.ok ? parsed.value.map(({ stmt }) => executedBy(stmt, place)) : [unread(place)];
}

function visit(value: unknown, place: string, out: Executed[]): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, place, out);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const node = typed(value);
  if (node === null) {
    for (const member of Object.values(value)) visit(member, place, out);
    return;
  }
  if (!PARTS.has(node.type)) {
    out.push(unread(place, `${node.type.replace('PLpgSQL_stmt_', '')} statements are not rehearsed`));
    return;
  }
  if (node.type === 'PLpgSQL_type') out.push(...declared(text(node.node, 'typname'), place));
  else if (node.node['dynquery'] !== undefined) out.push(unread(place, 'it executes SQL that is built at run time'));
  else if (node.type === 'PLpgSQL_expr') out.push(...expression(node.node, place));
  else visit(Object.values(node.node), place, out);
}

/** Parse modes of PL/pgSQL: 0 statement, 1 type, 2 expression, 3 and more assignment. */
function expression(node: Tree, place: string): readonly Executed[] {
  const query = text(node, 'query');
  const mode = number(node, 'parseMode') ?? 0;
  if (mode === 0) return executedBySql(query, place);
  return executedBySql(`SELECT ${mode >= 3 ? assignedExpressions(query) : query}`, place);
}

const NOTHING: Executed = {
  reasons: [],
  calls: [],
  operators: [],
  relations: [],
  members: [],
  writes: [],
  moving: [],
  assigns: [],
};

/** The type of a variable: its check runs with each assignment. `t%rowtype` and `t.c%type` refer to a table. */
function declared(name: string, place: string): readonly Executed[] {
  const referred = /^(.+?)%(?:rowtype|type)$/i.exec(name.trim());
  return executedBySql(referred === null ? `SELECT NULL::${name}` : `SELECT FROM ${referred[1] ?? ''}`, place);
}

function unread(place: string, why = 'its body cannot be read'): Executed {
  return { ...NOTHING, reasons: [`${place}: ${why}`] };
}
