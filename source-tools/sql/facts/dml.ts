import { shown } from '../../../policy/text/shown-name';
import type { Occurrence, SqlName } from './sql-facts';
import { fold } from './constant';
import { isRestricted, keyValues } from './key-values';
import type { Tree } from './parser';
import {
  child,
  flag,
  has,
  isOptionOn,
  isStar,
  list,
  number,
  options,
  rangeName,
  strings,
  text,
  typed,
  typedList,
} from './tree';
import {
  occurrence,
  occurrenceFromVerb,
  occurrenceOfName,
  privilege,
  relation,
  seesCte,
  within,
  emptyFacts,
  type Context,
  type Handler,
  type Walker,
} from './walker';
import { classifyWhere } from './where-class';

/** Statements that read and write rows, and the statements that contain them. */
export const dmlHandlers: readonly (readonly [string, Handler])[] = [
  ['InsertStmt', insert],
  ['UpdateStmt', (node, ctx, walk) => changeRows('update', node, ctx, walk)],
  ['DeleteStmt', (node, ctx, walk) => changeRows('delete', node, ctx, walk)],
  ['MergeStmt', merge],
  ['SelectStmt', select],
  ['RangeVar', range],
  ['ExplainStmt', explain],
  ['PrepareStmt', prepare],
  ['DeclareCursorStmt', (node, ctx, walk) => walk.children(node, within(ctx, 'cursor', 'cursor'))],
  ['CopyStmt', copy],
  ['TruncateStmt', truncate],
  ['LockStmt', lockTable],
  ['A_Expr', expression],
];

/** Records the target of a write. Rows of the system catalog are roles, privileges and settings. */
function recordWrite(ctx: Context, target: Tree, at: Occurrence): SqlName {
  const table = relation(ctx, target, 'write');
  const { schema, name } = table;
  const isCatalog =
    schema === 'pg_catalog' || schema === 'information_schema' || (schema === null && name.startsWith('pg_'));
  if (!isCatalog) return table;
  // An UPDATE of pg_settings works like SET, on any setting that its WHERE selects.
  if (name === 'pg_settings')
    ctx.facts.settings.push({ name: '*', change: 'set', scope: 'session', value: null, ...at });
  else privilege(ctx, 'catalog_write', name, at);
  return table;
}

function insert(node: Tree, ctx: Context, walk: Walker): void {
  const target = child(node, 'relation');
  const at = occurrenceFromVerb(ctx, 'insert', target);
  const table = recordWrite(ctx, target, at);
  const source = typed(node['selectStmt']);
  const values = source?.type === 'SelectStmt' ? list(source.node, 'valuesLists') : [];
  const conflict = child(node, 'onConflictClause');
  ctx.facts.dml.push({
    kind: 'insert',
    table,
    where: 'absent',
    whereReason: '',
    keyValues: null,
    restricted: false,
    hasColumnList: list(node, 'cols').length > 0 || source === null,
    valueRows: values.length > 0 ? values.length : null,
    onConflictUpdate: text(conflict, 'action') === 'ONCONFLICT_UPDATE',
    orderByRandom: source?.type === 'SelectStmt' && ordersByRandom(source.node),
    mergeActions: [],
    ...at,
  });
  recordHiddenWrite(at, ctx);
  walk.children(node, ctx, ['relation']);
}

function changeRows(kind: 'update' | 'delete', node: Tree, ctx: Context, walk: Walker): void {
  const target = child(node, 'relation');
  const at = occurrenceFromVerb(ctx, kind, target);
  const table = recordWrite(ctx, target, at);
  const { where, reason } = classifyWhere(node['whereClause'], table, node);
  ctx.facts.dml.push({
    kind,
    table,
    where,
    whereReason: reason,
    keyValues: keyValues(node),
    restricted: isRestricted(node),
    hasColumnList: false,
    valueRows: null,
    onConflictUpdate: false,
    orderByRandom: false,
    mergeActions: [],
    ...at,
  });
  recordHiddenWrite(at, ctx);
  walk.children(node, ctx, ['relation']);
}

function merge(node: Tree, ctx: Context, walk: Walker): void {
  const target = child(node, 'relation');
  const at = occurrenceFromVerb(ctx, 'merge', target);
  const table = recordWrite(ctx, target, at);
  const clauses = typedList(node, 'mergeWhenClauses');
  const actions = clauses.map((c) => text(c.node, 'commandType').replace('CMD_', '').toLowerCase());
  const bySource = clauses.some((c) => text(c.node, 'matchKind') === 'MERGE_WHEN_NOT_MATCHED_BY_SOURCE');
  const { where, reason } = classifyWhere(node['joinCondition'], table, node);
  const mergeActions = [...new Set([...actions, ...(bySource ? ['not_matched_by_source'] : [])])];
  ctx.facts.dml.push({
    kind: 'merge',
    table,
    where,
    whereReason: reason,
    keyValues: null,
    restricted: false,
    hasColumnList: !clauses.some((c) => has(c.node, 'values') && !has(c.node, 'targetList')),
    valueRows: null,
    onConflictUpdate: false,
    orderByRandom: false,
    mergeActions,
    ...at,
  });
  recordHiddenWrite(at, ctx);
  if (actions.includes('delete')) ctx.facts.hiddenWrites.push({ what: 'merge_delete', ...at });
  if (bySource) ctx.facts.hiddenWrites.push({ what: 'merge_not_matched_by_source', ...at });
  walk.children(node, ctx, ['relation']);
}

/** Records a write inside a statement that looks like a read. */
function recordHiddenWrite(at: Occurrence, ctx: Context): void {
  const what = (
    [
      ['cte', 'cte_write'],
      ['explain_analyze', 'explain_analyze_write'],
      ['copy', 'copy_write'],
      ['create_table_as', 'create_table_as_write'],
      ['rule', 'rule_write'],
    ] as const
  ).find(([container]) => ctx.via.includes(container))?.[1];
  if (what !== undefined) ctx.facts.hiddenWrites.push({ what, ...at });
}

function select(node: Tree, ctx: Context, walk: Walker): void {
  const into = child(node, 'intoClause');
  if (has(into, 'rel')) {
    const target = child(into, 'rel');
    const at = occurrenceFromVerb(ctx, 'into', target);
    const table = relation(ctx, target, 'ddl');
    const temporary = text(target, 'relpersistence') === 't';
    ctx.facts.hiddenWrites.push({ what: 'select_into', ...at });
    ctx.facts.tables.push({
      table,
      temporary,
      unlogged: text(target, 'relpersistence') === 'u',
      ifNotExists: false,
      hasPrimaryKey: false,
      as: true,
      partitioned: false,
      droppedOnCommit: false,
      derived: true,
      ...at,
    });
    ctx.facts.creations.push({ objectType: 'table', name: table, temporary, guarded: false, ...at });
  }
  // With SKIP LOCKED nothing waits; a person decides about it if it has no small LIMIT (modelled-nodes.ts).
  if (typedList(node, 'lockingClause').some((clause) => text(clause.node, 'waitPolicy') !== 'LockWaitSkip'))
    ctx.facts.hiddenWrites.push({ what: 'row_lock', ...occurrence(ctx) });
  if (list(node, 'fromClause').length > 0) {
    ctx.facts.selects.push({
      hasWhere: has(node, 'whereClause'),
      star: typedList(node, 'targetList').some((target) => isStar(target.node['val'])),
      locksRows: list(node, 'lockingClause').length > 0,
      ...occurrence(ctx),
    });
  }
  // FOR UPDATE OF lists aliases of this FROM clause, not tables.
  walk.children(node, ctx, ['intoClause', 'lockingClause']);
}

function range(node: Tree, ctx: Context): void {
  const { schema, name } = rangeName(node);
  if (schema === null && seesCte(ctx.ctes, name)) return;
  relation(ctx, node, 'read');
}

function explain(node: Tree, ctx: Context, walk: Walker): void {
  const analyzes = isOptionOn(options(node), 'analyze');
  const inner = within(ctx, analyzes ? 'EXPLAIN ANALYZE' : 'EXPLAIN', analyzes ? 'explain_analyze' : 'explain');
  walk.visit(
    node['query'],
    analyzes ? inner : { ...inner, inert: true, facts: { ...emptyFacts(), relations: ctx.facts.relations } },
  );
}

function prepare(node: Tree, ctx: Context, walk: Walker): void {
  walk.children(node, within(ctx, `PREPARE ${shown(text(node, 'name'))}`, 'prepare'));
}

function copy(node: Tree, ctx: Context, walk: Walker): void {
  const target = child(node, 'relation');
  const at = occurrence(ctx);
  if (has(target, 'relname')) {
    if (flag(node, 'is_from')) recordWrite(ctx, target, at);
    else relation(ctx, target, 'read');
  }
  if (flag(node, 'is_program')) ctx.facts.serverExecution.push({ what: 'copy_program', subject: '', ...at });
  else if (text(node, 'filename') !== '') ctx.facts.serverExecution.push({ what: 'copy_file', subject: '', ...at });
  walk.children(node, within(ctx, 'COPY query', 'copy'), ['relation']);
}

function truncate(node: Tree, ctx: Context): void {
  const ranges = typedList(node, 'relations').filter((r) => r.type === 'RangeVar');
  const statementAt = occurrence(ctx);
  const tables = ranges.map((r) => recordWrite(ctx, r.node, statementAt));
  const cascade = text(node, 'behavior') === 'DROP_CASCADE';
  ranges.forEach((r, i) =>
    ctx.facts.truncates.push({ tables: tables.slice(i, i + 1), cascade, ...occurrenceOfName(ctx, r.node) }),
  );
  if (cascade) ctx.facts.cascades.push({ what: 'truncate', ...statementAt });
}

const LOCK_MODES = [
  '',
  'access share',
  'row share',
  'row exclusive',
  'share update exclusive',
  'share',
  'share row exclusive',
  'exclusive',
  'access exclusive',
];

function lockTable(node: Tree, ctx: Context): void {
  const tables = typedList(node, 'relations').map((r) => relation(ctx, r.node, 'read'));
  ctx.facts.locks.push({ tables, mode: LOCK_MODES[number(node, 'mode') ?? 0] ?? '', ...occurrence(ctx) });
}

function ordersByRandom(node: Tree): boolean {
  return typedList(node, 'sortClause').some((s) => {
    const key = typed(s.node['node']);
    return key?.type === 'FuncCall' && strings(list(key.node, 'funcname')).includes('random');
  });
}

/** LIKE '%…' cannot use a B-tree index. */
function expression(node: Tree, ctx: Context, walk: Walker): void {
  const kind = text(node, 'kind');
  if (kind === 'AEXPR_LIKE' || kind === 'AEXPR_ILIKE') {
    const pattern = fold(node['rexpr']);
    if (pattern?.type === 'text' && String(pattern.value).startsWith('%'))
      ctx.facts.wildcards.push(occurrence(ctx, number(node, 'location')));
  }
  walk.children(node, ctx);
}
