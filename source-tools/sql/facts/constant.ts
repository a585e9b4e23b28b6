import type { Tree } from './parser';
import { child, flag, list, nameAt, text, typed, typedList } from './tree';

export type Constant = {
  readonly type: 'text' | 'number' | 'boolean' | 'null';
  readonly value: string | number | boolean | null;
  /** False for a number that the server prints or compares differently, such as 1.10 and 9007199254740993. */
  readonly exact: boolean;
};

const NULL: Constant = { type: 'null', value: null, exact: true };
const bool = (value: boolean): Constant => ({ type: 'boolean', value, exact: true });
const textual = (value: string): Constant => ({ type: 'text', value, exact: true });
const integer = (value: number): Constant | undefined =>
  Number.isSafeInteger(value) ? { type: 'number', value, exact: true } : undefined;

/**
 * Folds an expression whose value does not depend on the database. Undefined if the text alone does not determine it. Only types,
 * operators and functions of PostgreSQL are known: another schema can have its own of the same name.
 */
export function fold(expression: unknown): Constant | undefined {
  const e = typed(expression);
  if (e === null) return undefined;
  switch (e.type) {
    case 'A_Const':
      return constantOf(e.node);
    case 'TypeCast':
      return cast(fold(e.node['arg']), plainType(child(e.node, 'typeName')));
    case 'BoolExpr':
      return foldBoolean(text(e.node, 'boolop'), list(e.node, 'args').map(fold));
    case 'NullTest':
      return foldNullTest(e.node);
    case 'BooleanTest':
      return foldBooleanTest(text(e.node, 'booltesttype'), fold(e.node['arg']));
    case 'A_Expr':
      return foldOperator(e.node);
    case 'CoalesceExpr':
      return foldCoalesce(list(e.node, 'args').map(fold));
    case 'CaseExpr':
      return foldCase(e.node);
    default:
      return undefined;
  }
}

/** Text of a constant expression: any literal, also joined with `||` or concat(). Null if it is not constant. */
export function foldText(expression: unknown): string | null {
  const e = typed(expression);
  if (e?.type === 'FuncCall') {
    if (builtinName(e.node, 'funcname') !== 'concat' || flag(e.node, 'func_variadic')) return null;
    const parts = list(e.node, 'args').map(foldText);
    return parts.includes(null) ? null : parts.join('');
  }
  return textOf(fold(expression));
}

/** How the server prints a value. concat() and || print booleans differently. */
function textOf(value: Constant | undefined): string | null {
  const printed = value?.exact === true && (value.type === 'text' || value.type === 'number');
  return printed ? String(value.value) : null;
}

/** A name without a schema or in pg_catalog, else ''. */
function builtinName(node: Tree, key: string): string {
  const { schema, name } = nameAt(node, key);
  return schema === null || schema === 'pg_catalog' ? name : '';
}

/** The name of a type without a length, a precision or array bounds, which change the value. */
function plainType(type: Tree): string {
  return list(type, 'typmods').length > 0 || list(type, 'arrayBounds').length > 0 ? '' : builtinName(type, 'names');
}

function constantOf(node: Tree): Constant | undefined {
  if (flag(node, 'isnull')) return NULL;
  if (node['boolval'] !== undefined) return bool(flag(child(node, 'boolval'), 'boolval'));
  if (node['ival'] !== undefined) return integer(Number(child(node, 'ival')['ival'] ?? 0));
  if (node['fval'] !== undefined) return decimal(text(child(node, 'fval'), 'fval'));
  return node['sval'] === undefined ? undefined : textual(text(child(node, 'sval'), 'sval'));
}

function decimal(written: string): Constant | undefined {
  const value = Number(written);
  return Number.isFinite(value) ? { type: 'number', value, exact: String(value) === written } : undefined;
}

/** Types that shorten or pad a text (name, char) or round a number are not folded. */
function cast(value: Constant | undefined, type: string): Constant | undefined {
  if (value === undefined || !CASTS.has(type)) return undefined;
  if (value.type === 'null') return value;
  if (type === 'bool') return toBoolean(value);
  const printed = textOf(value);
  if (printed === null) return undefined;
  if (type === 'text' || type === 'varchar') return textual(printed);
  const number = decimal(printed);
  return number?.exact === true && (type === 'numeric' || Number.isSafeInteger(number.value)) ? number : undefined;
}

const CASTS: ReadonlySet<string> = new Set(['bool', 'text', 'varchar', 'numeric', 'int2', 'int4', 'int8']);

function toBoolean(value: Constant): Constant | undefined {
  if (value.type === 'boolean') return value;
  const word = String(value.value).trim().toLowerCase();
  if (['t', 'tr', 'tru', 'true', 'y', 'ye', 'yes', 'on', '1'].includes(word)) return bool(true);
  if (['f', 'fa', 'fal', 'fals', 'false', 'n', 'no', 'of', 'off', '0'].includes(word)) return bool(false);
  return value.type === 'number' && value.exact ? bool(value.value !== 0) : undefined;
}

function foldCoalesce(args: readonly (Constant | undefined)[]): Constant | undefined {
  const first = args.findIndex((value) => value?.type !== 'null');
  return first === -1 ? NULL : ofOneType(args[first], args.slice(first + 1));
}

/** The value, unless another result of the same expression may give it another type, such as name, which shortens it. */
function ofOneType(value: Constant | undefined, others: readonly (Constant | undefined)[]): Constant | undefined {
  if (value === undefined || value.type === 'boolean') return value;
  return others.every((other) => other?.type === value.type || other?.type === 'null') ? value : undefined;
}

function foldBoolean(operator: string, args: readonly (Constant | undefined)[]): Constant | undefined {
  const all = (wanted: boolean): boolean => args.every((a) => a?.type === 'boolean' && a.value === wanted);
  const some = (wanted: boolean): boolean => args.some((a) => a?.type === 'boolean' && a.value === wanted);
  if (operator === 'AND_EXPR') return all(true) ? bool(true) : some(false) ? bool(false) : undefined;
  if (operator === 'OR_EXPR') return some(true) ? bool(true) : all(false) ? bool(false) : undefined;
  const only = args[0];
  return only?.type === 'boolean' ? bool(only.value !== true) : undefined;
}

function foldNullTest(node: Tree): Constant | undefined {
  const value = fold(node['arg']);
  if (value === undefined) return undefined;
  return bool((value.type === 'null') === (text(node, 'nulltesttype') === 'IS_NULL'));
}

function foldBooleanTest(test: string, value: Constant | undefined): Constant | undefined {
  if (value === undefined || (value.type !== 'boolean' && value.type !== 'null')) return undefined;
  const not = test.startsWith('IS_NOT_');
  const wanted = test.endsWith('TRUE') ? true : test.endsWith('FALSE') ? false : null;
  return bool((value.value === wanted) !== not);
}

function foldCase(node: Tree): Constant | undefined {
  if (node['arg'] !== undefined) return undefined;
  const whens = typedList(node, 'args').map((when) => when.node);
  const otherwise = node['defresult'] === undefined ? NULL : fold(node['defresult']);
  const results = [...whens.map((when) => fold(when['result'])), otherwise];
  for (const [i, when] of whens.entries()) {
    const condition = fold(when['expr']);
    if (condition === undefined) return undefined;
    if (condition.value === true) return ofOneType(results[i], results);
  }
  return ofOneType(otherwise, results);
}

function foldOperator(node: Tree): Constant | undefined {
  const kind = text(node, 'kind');
  const operator = builtinName(node, 'name');
  if (kind === 'AEXPR_IN') {
    const left = fold(node['lexpr']);
    const items = list(child(child(node, 'rexpr'), 'List'), 'items').map(fold);
    if (left === undefined || operator !== '=') return undefined;
    return items.some((item) => item !== undefined && compare('=', left, item) === true) ? bool(true) : undefined;
  }
  const right = fold(node['rexpr']);
  if (node['lexpr'] === undefined)
    return right?.type === 'number' && operator === '-' ? { ...right, value: -Number(right.value) } : undefined;
  const left = fold(node['lexpr']);
  if (left === undefined || right === undefined) return undefined;
  if (kind === 'AEXPR_DISTINCT' || kind === 'AEXPR_NOT_DISTINCT') {
    const same = left.type === 'null' || right.type === 'null' ? left.type === right.type : compare('=', left, right);
    return same === undefined ? undefined : bool(same === (kind === 'AEXPR_NOT_DISTINCT'));
  }
  if (operator === '') return undefined;
  if (left.type === 'null' || right.type === 'null') return NULL;
  if (kind === 'AEXPR_LIKE' || kind === 'AEXPR_ILIKE')
    return operator.startsWith('!') ? undefined : right.value === '%' ? bool(true) : undefined;
  if (kind !== 'AEXPR_OP') return undefined;
  if (operator === '||') {
    const [before, after] = [textOf(left), textOf(right)];
    return before === null || after === null ? undefined : textual(before + after);
  }
  const compared = compare(operator, left, right);
  return compared === undefined ? calculate(operator, left, right) : bool(compared);
}

function calculate(operator: string, left: Constant, right: Constant): Constant | undefined {
  if (left.type !== 'number' || right.type !== 'number') return undefined;
  const [a, b] = [Number(left.value), Number(right.value)];
  if (!Number.isSafeInteger(a) || !Number.isSafeInteger(b)) return undefined;
  const result = operator === '+' ? a + b : operator === '-' ? a - b : operator === '*' ? a * b : undefined;
  return result === undefined ? undefined : integer(result);
}

/**
 * Compares two constants. Text is compared only for equality, because its order depends on the collation. A text literal that is
 * compared with a number or a boolean is converted, as the server does.
 */
function compare(operator: string, left: Constant, right: Constant): boolean | undefined {
  if (left.type === 'null' || right.type === 'null') return undefined;
  if (left.type !== right.type) {
    const [a, b] = [convert(left, right.type), convert(right, left.type)];
    return a === undefined || b === undefined ? undefined : compare(operator, a, b);
  }
  if (!left.exact || !right.exact) return undefined;
  const [a, b] = [left.value, right.value];
  if (operator === '=') return a === b;
  if (operator === '<>' || operator === '!=') return a !== b;
  if (typeof a !== 'number' || typeof b !== 'number') return undefined;
  switch (operator) {
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    case '>=':
      return a >= b;
    default:
      return undefined;
  }
}

/** A text in the other type; a value of another type unchanged if that type is text. */
function convert(value: Constant, type: Constant['type']): Constant | undefined {
  if (value.type !== 'text') return type === 'text' ? value : undefined;
  return cast(value, type === 'boolean' ? 'bool' : type === 'number' ? 'numeric' : '');
}
