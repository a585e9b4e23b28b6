/** Number of key values that the condition of an UPDATE or DELETE names, and whether it restricts the table at all. Pure. */
import { fold } from './constant';
import { constantLimit, isConstant } from './rehearsable';
import type { Tree } from './parser';
import { child, flag, has, list, nameAt, nodeOf, rangeName, strings, text, typed, typedList } from './tree';

/** The written table as the condition names it. */
interface Target {
  readonly schema: string | null;
  readonly name: string;
  /** True without another table, so that an unqualified column belongs to it. */
  readonly alone: boolean;
}

/**
 * `id = 7` names one value, `id IN (7, 8)` two, `a = 1 AND b = 2` one. Null for every other condition, for example a range, IS NOT
 * NULL, or a join that does not restrict the written table. The catalog is not read: the dry run shows if a value selects several rows.
 */
export function keyValues(statement: Tree): number | null {
  return valuesOf(statement['whereClause'], targetOf(statement));
}

/**
 * True if the condition compares a column of the written table with a value (also in a range, or with LIKE and more than wildcards),
 * or for equality with a column of another table, or is a column that is true, or null. Then the claimed number of rows decides. False
 * for IS NOT NULL, a function of a column, a negation, a bound that nearly all values keep (`> 0`, `< 'infinity'`), and every other
 * condition.
 */
export function isRestricted(statement: Tree): boolean {
  return restricts(statement['whereClause'], targetOf(statement));
}

function targetOf(statement: Tree): Target {
  const relation = child(statement, 'relation');
  const others = [...list(statement, 'fromClause'), ...list(statement, 'usingClause')];
  const alias = text(child(relation, 'alias'), 'aliasname');
  const { schema, name } = rangeName(relation);
  return { ...(alias === '' ? { schema, name } : { schema: null, name: alias }), alone: others.length === 0 };
}

function restricts(condition: unknown, target: Target): boolean {
  const e = typed(condition);
  switch (e?.type) {
    case 'BoolExpr': {
      const args = list(e.node, 'args');
      if (text(e.node, 'boolop') === 'AND_EXPR') return args.some((arg) => restricts(arg, target));
      return text(e.node, 'boolop') === 'OR_EXPR' && args.every((arg) => restricts(arg, target));
    }
    case 'ColumnRef':
      return isKey(condition, target);
    case 'NullTest':
      return text(e.node, 'nulltesttype') === 'IS_NULL' && isKey(e.node['arg'], target);
    case 'SubLink':
      return text(e.node, 'subLinkType') === 'ANY_SUBLINK' && isKey(e.node['testexpr'], target);
    case 'A_Expr':
      return restrictsByOperator(e.node, target);
    default:
      return false;
  }
}

function restrictsByOperator(node: Tree, target: Target): boolean {
  const operator = nameAt(node, 'name').name;
  const [left, right] = [node['lexpr'], node['rexpr']];
  switch (text(node, 'kind')) {
    case 'AEXPR_OP':
      if (operator === '=' && [left, right].every((side) => typed(side)?.type === 'ColumnRef'))
        return isKey(left, target) !== isKey(right, target);
      if (isKey(left, target)) return isBound(operator, right);
      return isKey(right, target) && isBound(MIRRORED[operator] ?? operator, left);
    case 'AEXPR_IN':
    case 'AEXPR_OP_ANY':
      return operator === '=' && isKey(left, target) && isFixed(right);
    case 'AEXPR_LIKE':
    case 'AEXPR_ILIKE':
      return !operator.startsWith('!') && isKey(left, target) && /[^%_]/.test(literal(right) ?? '');
    case 'AEXPR_BETWEEN': {
      const [low, high] = list(nodeOf(right), 'items');
      return isKey(left, target) && isFixed(right) && !(isLow(low) && isHigh(high));
    }
    default:
      return false;
  }
}

const MIRRORED: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

/** True if a column compared with the value by the operator is restricted. */
function isBound(operator: string, value: unknown): boolean {
  if (operator === '=') return isFixed(value);
  if (operator === '<' || operator === '<=') return isFixed(value) && !isHigh(value);
  return (operator === '>' || operator === '>=') && isFixed(value) && !isLow(value);
}

/** A value that is the same for all rows: no column and no subquery. */
function isFixed(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isFixed);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, member]) => key !== 'ColumnRef' && key !== 'SubLink' && isFixed(member));
}

/** Keys and amounts are rarely below 1, and times before 1970, so such a lower bound selects all rows. `(0,0)` is the first ctid. */
function isLow(value: unknown): boolean {
  const constant = literal(value);
  return (
    constant !== null && (Number(constant) <= 1 || /^(-infinity$|epoch$|1970-01-01|1900-|0\d{3}-|\(0,)/i.test(constant))
  );
}

/** The largest numbers of the integer types, and times that are no real dates. */
function isHigh(value: unknown): boolean {
  const constant = literal(value);
  if (constant === null) return false;
  const number = Number(constant);
  return number === 2_147_483_647 || number >= 9e18 || /^(infinity$|9\d{3}-|\d{5,}-)/i.test(constant);
}

/** A number or a text, also in a cast of any type. */
function literal(value: unknown): string | null {
  const e = typed(value);
  if (e?.type === 'TypeCast') return literal(e.node['arg']);
  const constant = fold(value);
  return constant?.type === 'number' || constant?.type === 'text' ? String(constant.value).trim() : null;
}

function valuesOf(condition: unknown, target: Target): number | null {
  const e = typed(condition);
  switch (e?.type) {
    case 'BoolExpr': {
      const values = list(e.node, 'args').map((arg) => valuesOf(arg, target));
      const known = values.filter((value) => value !== null);
      if (text(e.node, 'boolop') === 'AND_EXPR') return known.length === 0 ? null : Math.min(...known);
      if (text(e.node, 'boolop') !== 'OR_EXPR' || known.length < values.length) return null;
      return known.reduce((sum, each) => sum + each, 0);
    }
    case 'A_Expr':
      return valuesOfOperator(e.node, target);
    case 'SubLink':
      return valuesOfSubquery(e.node, target);
    default:
      return null;
  }
}

function valuesOfOperator(node: Tree, target: Target): number | null {
  const operator = strings(list(node, 'name'));
  if (operator.at(-1) !== '=' || (operator.length > 1 && operator[0] !== 'pg_catalog')) return null;
  const [left, right] = [node['lexpr'], node['rexpr']];
  const compares = (key: unknown, value: unknown): boolean => isKey(key, target) && isValueFor(key, value, target);
  switch (text(node, 'kind')) {
    case 'AEXPR_OP':
      return compares(left, right) || compares(right, left) ? 1 : null;
    case 'AEXPR_IN': {
      const items = list(child(child(node, 'rexpr'), 'List'), 'items');
      return items.length > 0 && items.every((item) => compares(left, item)) ? items.length : null;
    }
    case 'AEXPR_OP_ANY': {
      const items = arrayItems(right);
      return items !== null && items.every((item) => compares(left, item)) ? items.length : null;
    }
    default:
      return null;
  }
}

/** `key IN (SELECT … LIMIT 10)`. */
function valuesOfSubquery(node: Tree, target: Target): number | null {
  if (text(node, 'subLinkType') !== 'ANY_SUBLINK' || has(node, 'operName') || !isKey(node['testexpr'], target))
    return null;
  return isIndependent(node['subselect'], target) ? constantLimit(nodeOf(node['subselect'])) : null;
}

function arrayItems(expression: unknown): readonly unknown[] | null {
  const e = typed(expression);
  if (e?.type === 'TypeCast') return arrayItems(e.node['arg']);
  if (e?.type === 'A_Const') return literalItems(text(child(e.node, 'sval'), 'sval'));
  if (e?.type !== 'A_ArrayExpr') return null;
  const items = list(e.node, 'elements');
  return items.length > 0 ? items : null;
}

/** The items of `'{7,8}'`. Null if an item is quoted or an array, so that each comma separates two items. */
function literalItems(written: string): readonly unknown[] | null {
  const inner = /^\{([^{}"\\]+)\}$/.exec(written.trim())?.[1];
  return inner?.split(',').map((sval) => ({ A_Const: { sval: { sval } } })) ?? null;
}

/** System columns other than ctid are the same in many rows. */
const SHARED = new Set(['tableoid', 'xmin', 'xmax', 'cmin', 'cmax']);

/** A column of the target, or a row of such columns. */
function isKey(expression: unknown, target: Target): boolean {
  const e = typed(expression);
  if (e?.type === 'RowExpr') {
    const parts = list(e.node, 'args');
    return parts.length > 0 && parts.every((part) => typed(part)?.type === 'ColumnRef' && isKey(part, target));
  }
  if (e?.type !== 'ColumnRef') return false;
  const fields = list(e.node, 'fields');
  const names = strings(fields);
  if (names.length !== fields.length || SHARED.has(names.at(-1) ?? '')) return false;
  if (names.length === 1) return target.alone;
  const [table, schema = target.schema] = names.slice(0, -1).reverse();
  return names.length <= 3 && table === target.name && schema === target.schema;
}

function isValueFor(key: unknown, value: unknown, target: Target): boolean {
  const columns = typed(key);
  if (columns?.type !== 'RowExpr') return isValue(value, target);
  const row = typed(value);
  const parts = row?.type === 'RowExpr' ? list(row.node, 'args') : [];
  return parts.length === list(columns.node, 'args').length && parts.every((part) => isValue(part, target));
}

/** A constant other than NULL, true and false, or a subquery that returns one value for all rows. */
function isValue(value: unknown, target: Target): boolean {
  const e = typed(value);
  if (e?.type === 'SubLink')
    return text(e.node, 'subLinkType') === 'EXPR_SUBLINK' && isIndependent(e.node['subselect'], target);
  if (e?.type === 'TypeCast' && typed(e.node['arg'])?.type !== 'A_ArrayExpr') return isValue(e.node['arg'], target);
  if (e?.type === 'A_Const') return !flag(e.node, 'isnull') && !has(e.node, 'boolval');
  return e?.type !== 'A_ArrayExpr' && isConstant(value);
}

/**
 * True if the subquery reads at least one table and does not name a column of the target. A column without a table may belong to the
 * target; then the dry run shows more rows than values.
 */
function isIndependent(subquery: unknown, target: Target): boolean {
  const select = typed(subquery);
  if (select?.type !== 'SelectStmt' || list(select.node, 'fromClause').length === 0) return false;
  const from = typedList(select.node, 'fromClause');
  const own = from.map((r) => text(child(r.node, 'alias'), 'aliasname') || text(r.node, 'relname'));
  return own.includes(target.name) || !namesColumnOf(select.node, target.name);
}

function namesColumnOf(value: unknown, table: string): boolean {
  if (Array.isArray(value)) return value.some((item) => namesColumnOf(item, table));
  if (typeof value !== 'object' || value === null) return false;
  const e = typed(value);
  if (e?.type === 'ColumnRef') {
    const parts = strings(list(e.node, 'fields'));
    return parts.length !== 1 && parts[0] === table;
  }
  return Object.values(value).some((member) => namesColumnOf(member, table));
}
