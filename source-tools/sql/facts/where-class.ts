import type { SqlName, WhereClass } from './sql-facts';
import { complementary } from './complementary';
import { fold } from './constant';
import type { Tree } from './parser';
import { sameName } from './same-name';
import {
  child,
  columnName,
  has,
  isStar,
  list,
  nameAt,
  nodeOf,
  rangeName,
  strings,
  text,
  typed,
  typedList,
} from './tree';

export interface Classified {
  readonly where: WhereClass;
  readonly reason: string;
}

const PRESENT: Classified = { where: 'present', reason: '' };
const SYSTEM_COLUMNS = new Set(['ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid']);

/** The written table, and the names by which the statement refers to it and to the other tables of its FROM clause. */
interface Scope {
  readonly table: SqlName;
  readonly names: ReadonlySet<string>;
  /** Those of them that stand for all rows of the written table: the FROM clause has no join, subquery or sample. */
  readonly selves: ReadonlySet<string>;
}

/** Classifies the condition of an UPDATE, DELETE or MERGE (`statement`) on `name` by what the text alone shows. */
export function classifyWhere(condition: unknown, name: SqlName, statement: Tree): Classified {
  if (condition === undefined || condition === null) return { where: 'absent', reason: '' };
  if (typed(condition)?.type === 'CurrentOfExpr') return { where: 'current_of', reason: '' };
  const names = new Set<string>();
  for (const key of ['relation', 'fromClause', 'usingClause', 'sourceRelation']) namesIn(statement[key], names);
  return always(condition, { table: name, names, selves: selvesOf(statement, name) }) ?? PRESENT;
}

function selvesOf(statement: Tree, table: SqlName): ReadonlySet<string> {
  const others = [...typedList(statement, 'fromClause'), ...typedList(statement, 'usingClause')];
  // A WITH query may have the name of the table.
  if (has(statement, 'withClause') || others.some(({ type }) => type !== 'RangeVar')) return new Set();
  const ranges = [child(statement, 'relation'), ...others.map(({ node }) => node)];
  const isTable = ({ schema, name }: SqlName): boolean => schema === table.schema && name === table.name;
  return new Set(ranges.filter((r) => isTable(rangeName(r))).map(aliasOf));
}

function aliasOf(range: Tree): string {
  return text(child(range, 'alias'), 'aliasname') || text(range, 'relname');
}

/** Why a condition is true for every row (or every row whose operand is not null). Undefined if the text does not show it. */
function always(expression: unknown, scope: Scope): Classified | undefined {
  const e = typed(expression);
  if (e === null) return undefined;
  // Operands are examined one at a time and never folded together, so each node is read once even in deeply nested AND and OR.
  if (e.type === 'BoolExpr' && text(e.node, 'boolop') !== 'NOT_EXPR')
    return alwaysBoolean(text(e.node, 'boolop'), list(e.node, 'args'), scope);
  const folded = fold(expression);
  if (folded?.type === 'boolean')
    return folded.value === true ? { where: 'always_true', reason: 'a constant condition' } : undefined;
  if (folded === undefined && !dependsOnRow(expression))
    return { where: 'always_true', reason: 'a condition that does not depend on the row' };
  switch (e.type) {
    case 'A_Expr':
      return alwaysOperator(e.node, scope);
    case 'NullTest':
      return text(e.node, 'nulltesttype') === 'IS_NOT_NULL' && isSystemColumn(e.node['arg'])
        ? { where: 'always_true', reason: 'a system column is never null' }
        : undefined;
    case 'SubLink':
      return alwaysSubquery(e.node, scope);
    default:
      return undefined;
  }
}

function alwaysBoolean(operator: string, args: readonly unknown[], scope: Scope): Classified | undefined {
  if (operator === 'AND_EXPR') {
    const operands = args.map((arg) => always(arg, scope));
    return operands.includes(undefined)
      ? undefined
      : (operands.find((o) => o?.where === 'self_subquery') ?? operands[0]);
  }
  if (operator === 'OR_EXPR') {
    for (const arg of args) {
      const operand = always(arg, scope);
      if (operand !== undefined) return { ...operand, reason: `OR with ${operand.reason}` };
    }
    return complementary(args) ? { where: 'always_true', reason: 'OR of a condition and its negation' } : undefined;
  }
  return undefined;
}

function alwaysOperator(node: Tree, scope: Scope): Classified | undefined {
  const operator = nameAt(node, 'name').name;
  const kind = text(node, 'kind');
  const reflexive = (kind === 'AEXPR_OP' && ['=', '<=', '>='].includes(operator)) || kind === 'AEXPR_NOT_DISTINCT';
  if (reflexive && sameColumn(node['lexpr'], node['rexpr'], scope))
    return { where: 'always_true', reason: 'a column compared with itself' };
  const array = typed(node['rexpr']);
  if (kind === 'AEXPR_OP_ANY' && operator === '=' && array?.type === 'SubLink')
    return alwaysSubquery({ ...array.node, subLinkType: 'ANY_SUBLINK', testexpr: node['lexpr'] }, scope);
  if (kind === 'AEXPR_IN' && operator === '=' && isColumn(node['lexpr'])) {
    const items = list(child(child(node, 'rexpr'), 'List'), 'items');
    if (items.some((item) => sameColumn(node['lexpr'], item, scope)))
      return { where: 'always_true', reason: 'a column compared with a list that contains the column' };
  }
  if ((kind === 'AEXPR_LIKE' || kind === 'AEXPR_ILIKE') && !operator.startsWith('!')) {
    const pattern = fold(node['rexpr']);
    if (pattern?.type === 'text' && /^%+$/.test(String(pattern.value)))
      return { where: 'always_true', reason: 'LIKE with a pattern that matches everything' };
  }
  if (kind === 'AEXPR_OP' && (operator === '~' || operator === '~*')) {
    const pattern = fold(node['rexpr']);
    if (pattern?.type === 'text' && ['', '.*', '^', '^.*', '^.*$', '$'].includes(String(pattern.value)))
      return { where: 'always_true', reason: 'a pattern that matches everything' };
  }
  return undefined;
}

/** Members of a SELECT that may leave out rows, besides WHERE. */
const FILTERS = ['limitOffset', 'havingClause', 'groupClause', 'withClause', 'valuesLists'];

/** True for a LIMIT other than ALL, NULL and a number that few tables reach. */
function isLimited(select: Tree): boolean {
  if (select['limitCount'] === undefined) return false;
  const limit = fold(select['limitCount']);
  return limit?.type !== 'null' && !(limit?.type === 'number' && Number(limit.value) >= 1_000_000);
}

/** An unfiltered `id IN (SELECT id FROM same_table)`, and EXISTS on the unfiltered table or without a table. */
function alwaysSubquery(node: Tree, scope: Scope): Classified | undefined {
  const select = typed(node['subselect']);
  if (select?.type !== 'SelectStmt') return undefined;
  const s = select.node;
  if (isLimited(s) || FILTERS.some((member) => s[member] !== undefined)) return undefined;
  if (s['larg'] !== undefined) return alwaysUnion(node, s, scope);
  const condition = s['whereClause'];
  if (condition !== undefined && always(condition, scope) === undefined) return undefined;
  const from = typedList(s, 'fromClause');
  const only = from[0];
  const readsTable = from.length === 1 && only?.type === 'RangeVar' && sameName(rangeName(only.node), scope.table);
  switch (text(node, 'subLinkType')) {
    case 'EXISTS_SUBLINK':
      if (from.length === 0) return { where: 'always_true', reason: 'EXISTS without a table' };
      return readsTable ? { where: 'self_subquery', reason: 'EXISTS on the same table without a filter' } : undefined;
    case 'ANY_SUBLINK':
      if (from.length === 0 && repeats(s, node['testexpr'], scope))
        return { where: 'always_true', reason: 'a column compared with itself' };
      return readsTable && selects(s, node['testexpr'])
        ? { where: 'self_subquery', reason: 'IN with all rows of the same table' }
        : undefined;
    default:
      return undefined;
  }
}

/** A UNION has all rows if one of its sides has them. */
function alwaysUnion(node: Tree, union: Tree, scope: Scope): Classified | undefined {
  if (text(union, 'op') !== 'SETOP_UNION') return undefined;
  const side = (key: string): Classified | undefined =>
    alwaysSubquery({ ...node, subselect: { SelectStmt: union[key] } }, scope);
  return side('larg') ?? side('rarg');
}

/** True if a SELECT without a table has the columns of the tested expression: `id IN (SELECT t.id)`. */
function repeats(select: Tree, tested: unknown, scope: Scope): boolean {
  const wanted = columnsOf(tested);
  const selected = selectedBy(select);
  return wanted.length === selected.length && wanted.every((column, i) => sameColumn(column, selected[i], scope));
}

/** True if a SELECT from the table has the columns of the tested expression, or a star. */
function selects(select: Tree, tested: unknown): boolean {
  const selected = selectedBy(select);
  if (selected.length === 1 && isStar(selected[0])) return true;
  const wanted = columnsOf(tested).map(columnName);
  return (
    wanted.length === selected.length && wanted.every((name, i) => name !== null && name === columnName(selected[i]))
  );
}

function columnsOf(tested: unknown): readonly unknown[] {
  const row = typed(tested);
  return row?.type === 'RowExpr' ? list(row.node, 'args') : [tested];
}

function selectedBy(select: Tree): readonly unknown[] {
  return typedList(select, 'targetList').map((target) => target.node['val']);
}

/** True if the expression can differ between rows: it has a column, a parameter, another relation or a random value. */
function dependsOnRow(expression: unknown): boolean {
  let room = 400;
  const visit = (v: unknown): boolean => {
    if (room-- <= 0) return true;
    if (Array.isArray(v)) return v.some(visit);
    if (typeof v !== 'object' || v === null) return false;
    return Object.entries(v).some(([name, inner]) => VARIES.has(name) || isRandomCall(name, inner) || visit(inner));
  };
  return visit(expression);
}

const VARIES = new Set(['ColumnRef', 'ParamRef', 'RangeVar', 'RangeFunction', 'CurrentOfExpr', 'SetToDefault']);

function isRandomCall(type: string, node: unknown): boolean {
  if (type !== 'FuncCall') return false;
  return /random|uuid|nextval|clock_timestamp/.test(nameAt(node as Tree, 'funcname').name);
}

/**
 * True if both name the same column. `id` equals `t.id` for a table t of the statement: if it meant another table, the server would
 * report it as ambiguous. In a function body, `r.id`, OLD.id and NEW.id are values of a variable.
 */
function sameColumn(a: unknown, b: unknown, { names, selves }: Scope): boolean {
  const [left, right] = [a, b].map((e) => (isColumn(e) ? strings(list(nodeOf(e), 'fields')) : []));
  if (left === undefined || right === undefined || left.length === 0 || left.at(-1) !== right.at(-1)) return false;
  const [table, other] = [left.at(-2), right.at(-2)];
  if (table !== undefined && other !== undefined) return table === other || (selves.has(table) && selves.has(other));
  const named = table ?? other;
  return named === undefined || names.has(named);
}

function namesIn(value: unknown, names: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value))
    if (typeof member === 'object') namesIn(member, names);
    else if ((key === 'relname' || key === 'aliasname') && typeof member === 'string') names.add(member);
}

function isColumn(expression: unknown): boolean {
  return typed(expression)?.type === 'ColumnRef';
}

function isSystemColumn(expression: unknown): boolean {
  const name = columnName(expression);
  return name !== null && SYSTEM_COLUMNS.has(name);
}
