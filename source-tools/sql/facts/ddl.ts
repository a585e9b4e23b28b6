import { shown } from '../../../policy/text/shown-name';
import type { SqlName } from './sql-facts';
import { column, constraint } from './columns';
import { pushRelation } from './drop';
import type { Tree } from './parser';
import {
  child,
  flag,
  has,
  isOn,
  isOptionOn,
  list,
  nameAt,
  nameFrom,
  nodeOf,
  options,
  strings,
  text,
  typedList,
} from './tree';
import { functionCall, occurrence, relation, within, type Context, type Handler, type Walker } from './walker';

/** Statements that create objects, and maintenance statements that rewrite them. */
export const ddlHandlers: readonly (readonly [string, Handler])[] = [
  ['CreateStmt', (node, ctx, walk) => createTable('table', node, ctx, walk)],
  ['CreateForeignTableStmt', createForeignTable],
  ['CreateTableAsStmt', createTableAs],
  ['ViewStmt', createView],
  ['RuleStmt', createRule],
  ['IndexStmt', createIndex],
  ['ReindexStmt', reindex],
  ['CreateSchemaStmt', createSchema],
  ['CreateSeqStmt', createSequence],
  ['CreateEnumStmt', createType],
  ['CompositeTypeStmt', (node, ctx, walk) => createRange('type', 'typevar', node, ctx, walk)],
  ['CreateDomainStmt', createDomain],
  ['CreateTrigStmt', createTrigger],
  ['VacuumStmt', vacuum],
  ['ClusterStmt', cluster],
  ['RefreshMatViewStmt', refresh],
  ['PublicationObjSpec', published],
  ['CheckPointStmt', (_node, ctx) => void ctx.facts.maintenance.push({ what: 'checkpoint', ...occurrence(ctx) })],
];

export function created(ctx: Context, objectType: string, name: SqlName, temporary = false, guarded = false): void {
  ctx.facts.creations.push({ objectType, name, temporary, guarded, ...occurrence(ctx) });
}

function createType(node: Tree, ctx: Context): void {
  created(ctx, 'type', nameAt(node, 'typeName'));
}

/** A sequence or type whose name is the RangeVar `key`. */
function createRange(objectType: string, key: string, node: Tree, ctx: Context, walk: Walker): void {
  const range = child(node, key);
  const name = relation(ctx, range, 'ddl');
  created(ctx, objectType, name, text(range, 'relpersistence') === 't', flag(node, 'if_not_exists'));
  walk.children(node, ctx, [key]);
}

function createSequence(node: Tree, ctx: Context, walk: Walker): void {
  createRange('sequence', 'sequence', node, ctx, walk);
  recordOwningTable(node, ctx);
}

/** The table of OWNED BY, whose DROP drops the sequence. */
export function recordOwningTable(node: Tree, ctx: Context): void {
  for (const option of options(node)) {
    if (text(option, 'defname') !== 'owned_by') continue;
    const table = strings(list(nodeOf(option['arg']), 'items')).slice(0, -1);
    if (table.length > 0) pushRelation(nameFrom(table), ctx);
  }
}

function createTable(objectType: string, node: Tree, ctx: Context, walk: Walker): void {
  const target = child(node, 'relation');
  const table = relation(ctx, target, 'ddl');
  const temporary = text(target, 'relpersistence') === 't';
  const ifNotExists = flag(node, 'if_not_exists');
  const elements = typedList(node, 'tableElts');
  const isPrimaryKey = (c: Tree): boolean => text(c, 'contype') === 'CONSTR_PRIMARY';
  const hasPrimaryKey = elements.some((e) =>
    e.type === 'Constraint' ? isPrimaryKey(e.node) : typedList(e.node, 'constraints').some((c) => isPrimaryKey(c.node)),
  );
  ctx.facts.tables.push({
    table,
    temporary,
    unlogged: text(target, 'relpersistence') === 'u',
    ifNotExists,
    hasPrimaryKey,
    as: false,
    partitioned: has(node, 'partspec'),
    droppedOnCommit: text(node, 'oncommit') === 'ONCOMMIT_DROP',
    derived: has(node, 'inhRelations') || has(node, 'ofTypename') || elements.some((e) => e.type === 'TableLikeClause'),
    ...occurrence(ctx),
  });
  created(ctx, objectType, table, temporary, ifNotExists || temporary);
  for (const element of elements) {
    if (element.type === 'ColumnDef') column(element.node, table, 'create_table', false, ctx);
    else if (element.type === 'Constraint') constraint(element.node, table, 'create_table', ctx);
  }
  walk.children(node, ctx, ['relation']);
}

function createForeignTable(node: Tree, ctx: Context, walk: Walker): void {
  const base = child(node, 'base');
  const subject = text(child(base, 'relation'), 'relname');
  ctx.facts.serverExecution.push({ what: 'foreign_table', subject, ...occurrence(ctx) });
  createTable('foreign_table', base, ctx, walk);
}

function createTableAs(node: Tree, ctx: Context, walk: Walker): void {
  const into = child(node, 'into');
  const target = child(into, 'rel');
  const table = relation(ctx, target, 'ddl');
  const temporary = text(target, 'relpersistence') === 't';
  const isTable = text(node, 'objtype') === 'OBJECT_TABLE';
  const guarded = flag(node, 'if_not_exists') || temporary;
  if (ctx.via.includes('explain_analyze'))
    ctx.facts.hiddenWrites.push({ what: 'explain_analyze_write', ...occurrence(ctx) });
  if (isTable)
    ctx.facts.tables.push({
      table,
      temporary,
      unlogged: text(target, 'relpersistence') === 'u',
      ifNotExists: flag(node, 'if_not_exists'),
      hasPrimaryKey: false,
      as: true,
      partitioned: false,
      droppedOnCommit: text(into, 'onCommit') === 'ONCOMMIT_DROP',
      derived: true,
      ...occurrence(ctx),
    });
  created(ctx, isTable ? 'table' : 'materialized_view', table, temporary, guarded);
  walk.visit(node['query'], within(ctx, isTable ? 'CREATE TABLE AS' : 'CREATE MATERIALIZED VIEW', 'create_table_as'));
}

function createView(node: Tree, ctx: Context, walk: Walker): void {
  const target = child(node, 'view');
  const name = relation(ctx, target, 'ddl');
  created(ctx, 'view', name, text(target, 'relpersistence') === 't', flag(node, 'replace'));
  walk.visit(node['query'], within(ctx, `view ${shown(name.name)}`, 'view'));
}

function createRule(node: Tree, ctx: Context, walk: Walker): void {
  const name = relation(ctx, child(node, 'relation'), 'ddl');
  created(ctx, 'rule', { schema: name.schema, name: text(node, 'rulename') }, false, flag(node, 'replace'));
  walk.children(node, within(ctx, `rule ${shown(text(node, 'rulename'))}`, 'rule'), ['relation']);
}

function createTrigger(node: Tree, ctx: Context, walk: Walker): void {
  const table = relation(ctx, child(node, 'relation'), 'ddl');
  functionCall(ctx, nameAt(node, 'funcname'), 0, () => occurrence(ctx));
  created(ctx, 'trigger', { schema: table.schema, name: text(node, 'trigname') }, false, flag(node, 'replace'));
  walk.children(node, ctx, ['relation']);
}

function createIndex(node: Tree, ctx: Context, walk: Walker): void {
  const table = relation(ctx, child(node, 'relation'), 'ddl');
  const name = text(node, 'idxname');
  const guarded = flag(node, 'if_not_exists');
  ctx.facts.indexes.push({
    operation: 'create',
    concurrently: flag(node, 'concurrent'),
    unique: flag(node, 'unique'),
    name: name === '' ? null : name,
    table,
    ifExists: guarded,
    scope: null,
    ...occurrence(ctx),
  });
  created(ctx, 'index', { schema: table.schema, name }, false, guarded);
  walk.children(node, ctx, ['relation']);
}

function reindex(node: Tree, ctx: Context): void {
  const target = child(node, 'relation');
  const table = has(target, 'relname') ? relation(ctx, target, 'ddl') : null;
  const scope = text(node, 'kind').replace('REINDEX_OBJECT_', '').toLowerCase();
  if (scope === 'schema') pushRelation({ schema: text(node, 'name'), name: '*' }, ctx);
  // The last one counts if an option is repeated.
  const option = options(node, 'params').findLast((o) => text(o, 'defname') === 'concurrently');
  const concurrently = option !== undefined && isOn(option);
  ctx.facts.indexes.push({
    operation: 'reindex',
    concurrently,
    unique: false,
    name: null,
    table,
    ifExists: false,
    scope,
    ...occurrence(ctx),
  });
}

function published(node: Tree, ctx: Context, walk: Walker): void {
  if (text(node, 'pubobjtype') === 'PUBLICATIONOBJ_TABLES_IN_SCHEMA')
    pushRelation({ schema: text(node, 'name'), name: '*' }, ctx);
  walk.children(node, ctx);
}

function createSchema(node: Tree, ctx: Context, walk: Walker): void {
  created(ctx, 'schema', { schema: null, name: text(node, 'schemaname') }, false, flag(node, 'if_not_exists'));
  walk.children(node, within(ctx, 'CREATE SCHEMA', 'schema_element'));
}

function createDomain(node: Tree, ctx: Context, walk: Walker): void {
  created(ctx, 'domain', nameAt(node, 'domainname'));
  for (const c of typedList(node, 'constraints')) constraint(c.node, null, 'domain_create', ctx);
  walk.children(node, ctx);
}

function vacuum(node: Tree, ctx: Context, walk: Walker): void {
  const full = isOptionOn(options(node), 'full');
  ctx.facts.maintenance.push({
    what: flag(node, 'is_vacuumcmd') ? (full ? 'vacuum_full' : 'vacuum') : 'analyze',
    ...occurrence(ctx),
  });
  walk.children(node, ctx);
}

function cluster(node: Tree, ctx: Context, walk: Walker): void {
  ctx.facts.maintenance.push({ what: 'cluster', ...occurrence(ctx) });
  walk.children(node, ctx);
}

function refresh(node: Tree, ctx: Context): void {
  relation(ctx, child(node, 'relation'), 'write');
  ctx.facts.maintenance.push({
    what: flag(node, 'concurrent') ? 'refresh_materialized_view_concurrently' : 'refresh_materialized_view',
    ...occurrence(ctx),
  });
}
