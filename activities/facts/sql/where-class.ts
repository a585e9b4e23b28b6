import type { SqlName, WhereClass } from '../../../policy/rules/sql/sql-facts';
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
  switch (e.type) {
    case 'A_Expr':
      return alwaysOperator(e.node);
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

function alwaysOperator(node: Tree): Classified | undefined {
  const operator = strings(list(node, 'name')).at(-1) ?? '';
  const kind = text(node, 'kind');
  const reflexive = (kind === 'AEXPR_OP' && ['=', '<=', '>='].includes(operator)) || kind === 'AEXPR_NOT_DISTINCT';
  if (reflexive && isColumn(node['lexpr']) && same(node['lexpr'], node['rexpr']))
    return { where: 'always_true', reason: 'a column compared with itself' };
  if (kind === 'AEXPR_IN' && operator === '=' && isColumn(node['lexpr'])) {
    const items = list(child(child(node, 'rexpr'), 'List'), 'items');
    if (items.some((item) => same(node['lexpr'], item)))
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
  const target = typed(typedList(s, 'targetList')[0]?.node['val']);
  const wanted = columnName(node['testexpr']);
  if (wanted === null || target === null) return undefined;
  const selected = columnName({ [target.type]: target.node });
  return selected === wanted
    ? { where: 'self_subquery', reason: 'a lookup in the whole of the same table' }
    : undefined;
}

/** `x IS NULL OR x IS NOT NULL`, `p OR NOT p`. */
function complementary(args: readonly unknown[]): boolean {
  // Pairs are compared by their text; more arms than this are not written to be read.
  if (args.length > 50) return false;
  const keys = args.map((arg) => {
    const e = typed(arg);
    if (e?.type === 'NullTest')
      return { key: `null ${key(e.node['arg']) ?? ''}`, negative: text(e.node, 'nulltesttype') === 'IS_NOT_NULL' };
    if (e?.type === 'BoolExpr' && text(e.node, 'boolop') === 'NOT_EXPR')
      return { key: key(list(e.node, 'args')[0]), negative: true };
    return { key: key(arg), negative: false };
  });
  return keys.some(
    (a, i) => a.key !== null && keys.some((b, j) => j > i && a.key === b.key && a.negative !== b.negative),
  );
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

function same(a: unknown, b: unknown): boolean {
  const left = key(a);
  return left !== null && left === key(b);
}

/** The tree without places; null past a size that nobody compares, so that nested conditions stay linear. */
function key(value: unknown): string | null {
  let room = 400;
  const write = (v: unknown): string => {
    if (room-- <= 0) return '';
    if (Array.isArray(v)) return `[${v.map(write).join()}]`;
    if (typeof v !== 'object' || v === null) return JSON.stringify(v) ?? '';
    return `{${Object.keys(v)
      .filter((k) => k !== 'location')
      .map((k) => `${k}:${write((v as Tree)[k])}`)
      .join()}}`;
  };
  const written = write(value);
  return room <= 0 || value === undefined ? null : written;
}

function sameTable(a: SqlName, b: SqlName): boolean {
  return a.name === b.name && (a.schema === b.schema || a.schema === null || b.schema === null);
}
