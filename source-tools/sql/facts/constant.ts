import type { Tree } from './parser';
import { child, flag, list, strings, text, typed, typeNameOf, typedList } from './tree';

export type Constant = {
  readonly type: 'text' | 'number' | 'boolean' | 'null';
  readonly value: string | number | boolean | null;
};

const NULL: Constant = { type: 'null', value: null };
const bool = (value: boolean): Constant => ({ type: 'boolean', value });

/** Folds an expression whose value does not depend on the database. Undefined if the text alone does not determine it. */
export function fold(expression: unknown): Constant | undefined {
  const e = typed(expression);
  if (e === null) return undefined;
  switch (e.type) {
    case 'A_Const':
      return constantOf(e.node);
    case 'TypeCast':
      return cast(fold(e.node['arg']), typeNameOf(child(e.node, 'typeName')));
    case 'CollateClause':
      return fold(e.node['arg']);
    case 'BoolExpr':
      return foldBoolean(text(e.node, 'boolop'), list(e.node, 'args').map(fold));
    case 'NullTest':
      return foldNullTest(e.node);
    case 'BooleanTest':
      return foldBooleanTest(text(e.node, 'booltesttype'), fold(e.node['arg']));
    case 'A_Expr':
      return foldOperator(e.node);
    case 'CoalesceExpr': {
      for (const arg of list(e.node, 'args')) {
        const value = fold(arg);
        if (value === undefined || value.type !== 'null') return value;
      }
      return NULL;
    }
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
    const name = strings(list(e.node, 'funcname')).at(-1);
    if (name !== 'concat') return null;
    const parts = list(e.node, 'args').map(foldText);
    return parts.includes(null) ? null : parts.join('');
  }
  const value = fold(expression);
  return value === undefined || value.type === 'null' ? null : String(value.value);
}

function constantOf(node: Tree): Constant {
  if (flag(node, 'isnull')) return NULL;
  if (node['boolval'] !== undefined) return bool(flag(child(node, 'boolval'), 'boolval'));
  if (node['ival'] !== undefined) return { type: 'number', value: Number(child(node, 'ival')['ival'] ?? 0) };
  if (node['fval'] !== undefined) return { type: 'number', value: Number(text(child(node, 'fval'), 'fval')) };
  return { type: 'text', value: text(child(node, 'sval'), 'sval') };
}

function cast(value: Constant | undefined, type: string): Constant | undefined {
  if (value === undefined || value.type === 'null') return value;
  if (type === 'bool') {
    if (value.type === 'boolean') return value;
    const word = String(value.value).trim().toLowerCase();
    if (['t', 'tr', 'tru', 'true', 'y', 'ye', 'yes', 'on', '1'].includes(word)) return bool(true);
    if (['f', 'fa', 'fal', 'fals', 'false', 'n', 'no', 'of', 'off', '0'].includes(word)) return bool(false);
    return value.type === 'number' ? bool(value.value !== 0) : undefined;
  }
  if (['int2', 'int4', 'int8', 'numeric', 'float4', 'float8'].includes(type)) {
    const number = value.type === 'number' ? value.value : value.type === 'text' ? Number(value.value) : Number.NaN;
    return typeof number === 'number' && Number.isFinite(number) ? { type: 'number', value: number } : undefined;
  }
  if (['text', 'varchar', 'bpchar', 'name', 'unknown'].includes(type))
    return value.type === 'boolean' ? undefined : { type: 'text', value: String(value.value) };
  return undefined;
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
  for (const when of typedList(node, 'args')) {
    const condition = fold(when.node['expr']);
    if (condition === undefined) return undefined;
    if (condition.value === true) return fold(when.node['result']);
  }
  return node['defresult'] === undefined ? NULL : fold(node['defresult']);
}

function foldOperator(node: Tree): Constant | undefined {
  const kind = text(node, 'kind');
  const operator = strings(list(node, 'name')).at(-1) ?? '';
  if (kind === 'AEXPR_IN') {
    const left = fold(node['lexpr']);
    const items = list(child(child(node, 'rexpr'), 'List'), 'items').map(fold);
    if (left === undefined || operator !== '=') return undefined;
    return items.some((item) => item !== undefined && compare('=', left, item) === true) ? bool(true) : undefined;
  }
  const right = fold(node['rexpr']);
  if (node['lexpr'] === undefined)
    return right?.type === 'number' && operator === '-' ? { type: 'number', value: -Number(right.value) } : undefined;
  const left = fold(node['lexpr']);
  if (left === undefined || right === undefined) return undefined;
  if (kind === 'AEXPR_DISTINCT' || kind === 'AEXPR_NOT_DISTINCT') {
    const same = left.type === 'null' || right.type === 'null' ? left.type === right.type : compare('=', left, right);
    return same === undefined ? undefined : bool(same === (kind === 'AEXPR_NOT_DISTINCT'));
  }
  if (left.type === 'null' || right.type === 'null') return NULL;
  if (kind === 'AEXPR_LIKE' || kind === 'AEXPR_ILIKE')
    return operator.startsWith('!') ? undefined : right.value === '%' ? bool(true) : undefined;
  if (kind !== 'AEXPR_OP') return undefined;
  if (operator === '||') return { type: 'text', value: `${String(left.value)}${String(right.value)}` };
  const compared = compare(operator, left, right);
  if (compared !== undefined) return bool(compared);
  if (left.type !== 'number' || right.type !== 'number') return undefined;
  const [a, b] = [Number(left.value), Number(right.value)];
  const result = operator === '+' ? a + b : operator === '-' ? a - b : operator === '*' ? a * b : undefined;
  return result === undefined || !Number.isSafeInteger(result) ? undefined : { type: 'number', value: result };
}

/**
 * Compares two constants. Text is compared only for equality, because its order depends on the collation. A text literal that is
 * compared with a number is converted to a number, as the server does.
 */
function compare(operator: string, left: Constant, right: Constant): boolean | undefined {
  if (left.type === 'null' || right.type === 'null') return undefined;
  const numeric = left.type === 'number' || right.type === 'number';
  const a = numeric ? Number(left.value) : left.value;
  const b = numeric ? Number(right.value) : right.value;
  if (numeric && (Number.isNaN(a) || Number.isNaN(b))) return undefined;
  switch (operator) {
    case '=':
      return a === b;
    case '<>':
    case '!=':
      return a !== b;
    default:
      break;
  }
  if (!numeric) return undefined;
  switch (operator) {
    case '<':
      return Number(a) < Number(b);
    case '<=':
      return Number(a) <= Number(b);
    case '>':
      return Number(a) > Number(b);
    case '>=':
      return Number(a) >= Number(b);
    default:
      return undefined;
  }
}
