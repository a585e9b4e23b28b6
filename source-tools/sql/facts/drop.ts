import type { SqlName } from './sql-facts';
import type { Tree } from './parser';
import { flag, list, nameFrom, strings, text, typed, typedList } from './tree';
import { occurrence, type Context, type Handler } from './walker';

/** DROP in its forms, and statements that only describe what they name. */
export const dropHandlers: readonly (readonly [string, Handler])[] = [
  ['DropStmt', drop],
  ['DropdbStmt', (node, ctx) => dropOther('database', [text(node, 'dbname')], node, ctx)],
  ['DropTableSpaceStmt', (node, ctx) => dropOther('tablespace', [text(node, 'tablespacename')], node, ctx)],
  ['DropOwnedStmt', (node, ctx) => dropOther('owned', roles(node), node, ctx)],
  ['DropRoleStmt', dropRole],
  ['DropSubscriptionStmt', (node, ctx) => dropOther('subscription', [text(node, 'subname')], node, ctx)],
  ['DropUserMappingStmt', (node, ctx) => dropOther('user_mapping', [text(node, 'servername')], node, ctx)],
  ['CommentStmt', nameOnly],
  ['SecLabelStmt', nameOnly],
];

const RELATIONS = new Set(['table', 'view', 'matview', 'foreign_table', 'index', 'sequence']);
/** Dropped as `table.name`: the relation is all but the last part. */
const OF_TABLE = new Set(['trigger', 'rule', 'policy', 'column', 'tabconstraint']);

function drop(node: Tree, ctx: Context): void {
  const objectType = text(node, 'removeType').replace('OBJECT_', '').toLowerCase();
  const cascade = text(node, 'behavior') === 'DROP_CASCADE';
  const objects = list(node, 'objects').map(objectParts);
  dropped(objectType, objects.map(nameFrom), cascade, flag(node, 'concurrent'), flag(node, 'missing_ok'), ctx);
  const at = occurrence(ctx);
  if (RELATIONS.has(objectType)) for (const parts of objects) named(nameFrom(parts), ctx, at);
  if (OF_TABLE.has(objectType)) for (const parts of objects) named(nameFrom(parts.slice(0, -1)), ctx, at);
  if (objectType === 'schema') for (const parts of objects) named({ schema: parts.at(-1) ?? '', name: '*' }, ctx, at);
  if (objectType === 'index') {
    for (const parts of objects)
      ctx.facts.indexes.push({
        operation: 'drop',
        concurrently: flag(node, 'concurrent'),
        unique: false,
        name: parts.at(-1) ?? '',
        table: null,
        ifExists: flag(node, 'missing_ok'),
        scope: null,
        ...occurrence(ctx),
      });
  }
}

function dropOther(objectType: string, names: readonly string[], node: Tree, ctx: Context): void {
  dropped(
    objectType,
    names.map((name) => ({ schema: null, name })),
    text(node, 'behavior') === 'DROP_CASCADE',
    false,
    flag(node, 'missing_ok'),
    ctx,
  );
}

function dropRole(node: Tree, ctx: Context): void {
  dropOther('role', roles(node), node, ctx);
  ctx.facts.privileges.push({ what: 'role_ddl', subject: roles(node).join(', '), ...occurrence(ctx) });
}

function dropped(
  objectType: string,
  objects: readonly SqlName[],
  cascade: boolean,
  concurrently: boolean,
  ifExists: boolean,
  ctx: Context,
): void {
  ctx.facts.drops.push({ objectType, objects, cascade, concurrently, ifExists, ...occurrence(ctx) });
  if (cascade) ctx.facts.cascades.push({ what: 'drop', ...occurrence(ctx) });
}

function roles(node: Tree): readonly string[] {
  return typedList(node, 'roles').map(
    (r) => text(r.node, 'rolename') || text(r.node, 'roletype').replace('ROLESPEC_', '').toLowerCase(),
  );
}

function named(name: SqlName, ctx: Context, at = occurrence(ctx)): void {
  ctx.facts.relations.push({ relation: name, access: 'ddl', ...at });
}

/** The parts of an object's name in DROP and COMMENT: a list, a String, a TypeName or a function with arguments. */
export function objectParts(object: unknown): readonly string[] {
  const o = typed(object);
  if (o === null) return [];
  switch (o.type) {
    case 'List':
      return strings(list(o.node, 'items'));
    case 'String':
      return [text(o.node, 'sval')];
    case 'TypeName':
      return strings(list(o.node, 'names'));
    case 'ObjectWithArgs':
      return strings(list(o.node, 'objname'));
    default:
      return [];
  }
}

/** COMMENT ON and SECURITY LABEL: change nothing but a description, yet name their object. */
function nameOnly(node: Tree, ctx: Context): void {
  const objectType = text(node, 'objtype').replace('OBJECT_', '').toLowerCase();
  const parts = objectParts(node['object']);
  if (RELATIONS.has(objectType)) named(nameFrom(parts), ctx);
  if (OF_TABLE.has(objectType)) named(nameFrom(parts.slice(0, -1)), ctx);
  const hasText = text(node, 'comment') !== '';
  if (objectType === 'table')
    ctx.facts.comments.push({ table: nameFrom(parts), column: null, hasText, ...occurrence(ctx) });
  if (objectType === 'column')
    ctx.facts.comments.push({
      table: nameFrom(parts.slice(0, -1)),
      column: parts.at(-1) ?? '',
      hasText,
      ...occurrence(ctx),
    });
}
