import type { Tree } from './parser';
import { child, flag, list, rangeName, strings, text, typed, typedList } from './tree';

interface Range {
  readonly schema: string | null;
  readonly relation: string;
  /** The name by which columns refer to it. */
  readonly name: string;
}

/** Null for a query that runs once. Else the ranges of the queries around it, to which it may refer. `unknown`: not a table. */
type Repeated = null | 'lateral' | readonly (Range | 'unknown')[];

const QUERIES: ReadonlySet<string> = new Set(['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt', 'MergeStmt']);
/** Members that contain a SELECT without its type name: the sides of UNION, INTERSECT and EXCEPT. */
const SIDES: ReadonlySet<string> = new Set(['larg', 'rarg']);

/**
 * Whether a SELECT with row locks may run once for each row of another query, so that its LIMIT bounds the rows of each run and
 * not those of the statement: in LATERAL, or in an expression if it may refer to the query around it. A subquery of one table
 * whose columns can only be its own is evaluated once, or locks the same rows again.
 */
export function locksRepeatedly(stmt: Tree): boolean {
  return inside(stmt, null, []);
}

function inside(value: unknown, repeated: Repeated, ranges: readonly (Range | 'unknown')[]): boolean {
  if (Array.isArray(value)) return value.some((item) => inside(item, repeated, ranges));
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, item]) => {
    if (typeof item !== 'object' || item === null) return false;
    if (QUERIES.has(key) || SIDES.has(key)) return inQuery(item as Tree, repeated, ranges);
    if (key === 'SubLink') return inside(item, repeated === 'lateral' ? 'lateral' : ranges, ranges);
    if (key === 'RangeSubselect' && flag(item as Tree, 'lateral')) return inside(item, 'lateral', ranges);
    return inside(item, repeated, ranges);
  });
}

function inQuery(query: Tree, repeated: Repeated, ranges: readonly (Range | 'unknown')[]): boolean {
  const own = [...typedList(query, 'fromClause'), ...typedList(query, 'usingClause')].map(({ type, node }) =>
    type === 'RangeVar' ? rangeOf(node) : 'unknown',
  );
  const target = child(query, 'relation');
  if (target['relname'] !== undefined) own.push(rangeOf(target));
  // Names such as `excluded` and `old` refer to the row of the target.
  for (const key of ['onConflictClause', 'sourceRelation']) if (query[key] !== undefined) own.push('unknown');
  if (query['lockingClause'] !== undefined && repeated !== null)
    if (repeated === 'lateral' || !refersToItself(query, own, repeated)) return true;
  return inside(query, repeated, [...ranges, ...own]);
}

function rangeOf(node: Tree): Range {
  const { schema, name } = rangeName(node);
  return { schema, relation: name, name: text(child(node, 'alias'), 'aliasname') || name };
}

/** One table, no query inside, and names of columns that this table has if a query around it has them. */
function refersToItself(
  query: Tree,
  own: readonly (Range | 'unknown')[],
  outer: readonly (Range | 'unknown')[],
): boolean {
  const [table] = own;
  if (own.length !== 1 || table === undefined || table === 'unknown') return false;
  const isSameTable = outer.every(
    (range) => range !== 'unknown' && range.relation === table.relation && range.schema === table.schema,
  );
  const names = new Set(outer.flatMap((range) => (range === 'unknown' ? [] : [range.name])));
  return columnsOf(query).every((parts) => {
    if (parts === null) return false;
    const [first = '', ...more] = parts;
    if (more.length > 0) return parts.at(-2) === table.name;
    return first === table.name || (isSameTable && !names.has(first));
  });
}

/** The names of all columns in a query, as written; null for a query inside. */
function columnsOf(value: unknown): readonly (readonly string[] | null)[] {
  if (Array.isArray(value)) return value.flatMap(columnsOf);
  if (typeof value !== 'object' || value === null) return [];
  const node = typed(value);
  if (node?.type === 'ColumnRef') {
    const parts = strings(list(node.node, 'fields'));
    return parts.length === 0 ? [] : [parts];
  }
  if (node?.type === 'SubLink' || node?.type === 'RangeSubselect' || node?.type === 'CommonTableExpr') return [null];
  return Object.values(value).flatMap(columnsOf);
}
