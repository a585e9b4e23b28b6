import type { SqlName, WhereClass } from './sql-facts';
import { complementary } from './complementary';
import { fold } from './constant';
import type { Tree } from './parser';
import { child, list, rangeName, strings, text, typed, typedList } from './tree';

export interface Classified {
  readonly where: WhereClass;
  readonly reason: string;
}

const PRESENT: Classified = { where: 'present', reason: '' };
const SYSTEM_COLUMNS = new Set(['ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid']);

/** How much a condition of an UPDATE, DELETE or MERGE on `table` selects, as far as the text shows it. */
export function classifyWhere(condition: unknown, table: SqlName): Classified {
  if (condition === undefined || condition === null) return { where: 'absent', reason: '' };
  if (typed(condition)?.type === 'CurrentOfExpr') return { where: 'current_of', reason: '' };
  return always(condition, table) ?? PRESENT;
}

/** Why a condition holds for every row (or every row whose operand is not null); undefined where that is not plain. */
function always(expression: unknown, table: SqlName): Classified | undefined {
  const e = typed(expression);
  if (e === null) return undefined;
  // Arms are looked at one by one, never folded together: each node is read once, however deep AND and OR nest.
  if (e.type === 'BoolExpr' && text(e.node, 'boolop') !== 'NOT_EXPR')
    return alwaysBoolean(text(e.node, 'boolop'), list(e.node, 'args'), table);
  const folded = fold(expression);
  if (folded?.type === 'boolean')
    return folded.value === true ? { where: 'always_true', reason: 'a constant condition' } : undefined;
  if (folded === undefined && !looksAtRow(expression))
    return { where: 'always_true', reason: 'a condition that does not look at the row' };
  switch (e.type) {
    case 'A_Expr':
      return alwaysOperator(e.node, table);
    case 'NullTest':
      return text(e.node, 'nulltesttype') === 'IS_NOT_NULL' && isSystemColumn(e.node['arg'])
        ? { where: 'always_true', reason: 'a system column is never null' }
        : undefined;
    case 'SubLink':
      return alwaysSubquery(e.node, table);
    default:
      return undefined;
  }
}

function alwaysBoolean(operator: string, args: readonly unknown[], table: SqlName): Classified | undefined {
  if (operator === 'AND_EXPR') {
    const arms = args.map((arg) => always(arg, table));
    return arms.includes(undefined) ? undefined : (arms.find((arm) => arm?.where === 'self_subquery') ?? arms[0]);
  }
  if (operator === 'OR_EXPR') {
    for (const arg of args) {
      const arm = always(arg, table);
      if (arm !== undefined) return { ...arm, reason: `OR with ${arm.reason}` };
    }
    return complementary(args) ? { where: 'always_true', reason: 'OR of a condition and its opposite' } : undefined;
  }
  return undefined;
}

function alwaysOperator(node: Tree, table: SqlName): Classified | undefined {
  const operator = strings(list(node, 'name')).at(-1) ?? '';
  const kind = text(node, 'kind');
  const reflexive = (kind === 'AEXPR_OP' && ['=', '<=', '>='].includes(operator)) || kind === 'AEXPR_NOT_DISTINCT';
  if (reflexive && sameColumn(node['lexpr'], node['rexpr']))
    return { where: 'always_true', reason: 'a column compared with itself' };
  const array = typed(node['rexpr']);
  if (kind === 'AEXPR_OP_ANY' && operator === '=' && array?.type === 'SubLink')
    return alwaysSubquery({ ...array.node, subLinkType: 'ANY_SUBLINK', testexpr: node['lexpr'] }, table);
  if (kind === 'AEXPR_IN' && operator === '=' && isColumn(node['lexpr'])) {
    const items = list(child(child(node, 'rexpr'), 'List'), 'items');
    if (items.some((item) => sameColumn(node['lexpr'], item)))
      return { where: 'always_true', reason: 'a column looked up in itself' };
  }
  if ((kind === 'AEXPR_LIKE' || kind === 'AEXPR_ILIKE') && !operator.startsWith('!')) {
    const pattern = fold(node['rexpr']);
    if (pattern?.type === 'text' && /^%+$/.test(String(pattern.value)))
      return { where: 'always_true', reason: 'LIKE with a pattern of anything' };
  }
  if (kind === 'AEXPR_OP' && (operator === '~' || operator === '~*')) {
    const pattern = fold(node['rexpr']);
    if (pattern?.type === 'text' && ['', '.*', '^', '^.*', '^.*$', '$'].includes(String(pattern.value)))
      return { where: 'always_true', reason: 'a pattern of anything' };
  }
  return undefined;
}

/** `id IN (SELECT id FROM same_table)` with nothing that narrows it, and EXISTS over the bare table or no table at all. */
function alwaysSubquery(node: Tree, table: SqlName): Classified | undefined {
  const select = typed(node['subselect']);
  if (select?.type !== 'SelectStmt') return undefined;
  const s = select.node;
  const narrowed =
    s['limitCount'] !== undefined ||
    s['limitOffset'] !== undefined ||
    s['havingClause'] !== undefined ||
    s['larg'] !== undefined ||
    s['groupClause'] !== undefined ||
    s['withClause'] !== undefined ||
    s['valuesLists'] !== undefined;
  if (narrowed) return undefined;
  const from = typedList(s, 'fromClause');
  const only = from[0];
  const link = text(node, 'subLinkType');
  const condition = s['whereClause'];
  const open = condition === undefined || always(condition, table) !== undefined;
  if (link === 'EXISTS_SUBLINK') {
    if (!open) return undefined;
    if (from.length === 0) return { where: 'always_true', reason: 'EXISTS over no table' };
    return from.length === 1 && only?.type === 'RangeVar' && sameTable(rangeName(only.node), table)
      ? { where: 'self_subquery', reason: 'EXISTS over the same table' }
      : undefined;
  }
  if (
    link !== 'ANY_SUBLINK' ||
    !open ||
    from.length !== 1 ||
    only?.type !== 'RangeVar' ||
    !sameTable(rangeName(only.node), table)
  )
    return undefined;
  const row = typed(node['testexpr']);
  const wanted = (row?.type === 'RowExpr' ? list(row.node, 'args') : [node['testexpr']]).map(columnName);
  const selected = typedList(s, 'targetList').map((target) => columnName(target.node['val']));
  return wanted.length === selected.length && wanted.every((name, i) => name !== null && name === selected[i])
    ? { where: 'self_subquery', reason: 'a lookup in the whole of the same table' }
    : undefined;
}

/** Whether anything in it can differ from row to row: a column, a parameter, another relation, chance. */
function looksAtRow(expression: unknown): boolean {
  let room = 400;
  const visit = (v: unknown): boolean => {
    if (room-- <= 0) return true;
    if (Array.isArray(v)) return v.some(visit);
    if (typeof v !== 'object' || v === null) return false;
    return Object.entries(v).some(([name, inner]) => VARIES.has(name) || isChance(name, inner) || visit(inner));
  };
  return visit(expression);
}

const VARIES = new Set(['ColumnRef', 'ParamRef', 'RangeVar', 'RangeFunction', 'CurrentOfExpr', 'SetToDefault']);

function isChance(type: string, node: unknown): boolean {
  if (type !== 'FuncCall') return false;
  return /random|uuid|nextval|clock_timestamp/.test(strings(list(node as Tree, 'funcname')).at(-1) ?? '');
}

/** One column under both names: `id` and `t.id` meet, as the server would call a text ambiguous in which they do not. */
function sameColumn(a: unknown, b: unknown): boolean {
  const [left, right] = [a, b].map((e) => (isColumn(e) ? strings(list(typed(e)?.node ?? {}, 'fields')) : []));
  if (left === undefined || right === undefined || left.length === 0 || left.at(-1) !== right.at(-1)) return false;
  return left.length === 1 || right.length === 1 || left.at(-2) === right.at(-2);
}

function isColumn(expression: unknown): boolean {
  return typed(expression)?.type === 'ColumnRef';
}

function isSystemColumn(expression: unknown): boolean {
  const name = columnName(expression);
  return name !== null && SYSTEM_COLUMNS.has(name);
}

/** The column's last name, so that `t.id` and `id` meet. */
function columnName(expression: unknown): string | null {
  const e = typed(expression);
  return e?.type === 'ColumnRef' ? (strings(list(e.node, 'fields')).at(-1) ?? null) : null;
}

function sameTable(a: SqlName, b: SqlName): boolean {
  return a.name === b.name && (a.schema === b.schema || a.schema === null || b.schema === null);
}
