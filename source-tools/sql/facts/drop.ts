import type { SqlName } from './sql-facts';
import type { Tree } from './parser';
import { flag, list, nameFrom, strings, text, typed, typedList } from './tree';
import { occurrence, privilege, type Context, type Handler } from './walker';

/** All forms of DROP, and COMMENT ON and SECURITY LABEL. */
export const dropHandlers: readonly (readonly [string, Handler])[] = [
  ['DropStmt', drop],
  ['DropdbStmt', dropOther('database', 'dbname')],
  ['DropTableSpaceStmt', dropOther('tablespace', 'tablespacename')],
  ['DropOwnedStmt', (node, ctx) => dropRoles('owned', node, ctx)],
  ['DropRoleStmt', dropRole],
  ['DropSubscriptionStmt', dropOther('subscription', 'subname')],
  ['DropUserMappingStmt', dropOther('user_mapping', 'servername')],
  ['CommentStmt', describe],
  ['SecLabelStmt', securityLabel],
];

export const RELATIONS: ReadonlySet<string> = new Set([
  'table',
  'view',
  'matview',
  'foreign_table',
  'index',
  'sequence',
]);
/** Object types that DROP names as `table.name`: the relation is every part but the last. */
const TABLE_MEMBERS = new Set(['trigger', 'rule', 'policy', 'column', 'tabconstraint']);

function drop(node: Tree, ctx: Context): void {
  const objectType = text(node, 'removeType').replace('OBJECT_', '').toLowerCase();
  const objects = list(node, 'objects').map(objectParts);
  pushDrop(objectType, objects.map(nameFrom), node, ctx);
  const at = occurrence(ctx);
  if (RELATIONS.has(objectType)) for (const parts of objects) pushRelation(nameFrom(parts), ctx, at);
  if (TABLE_MEMBERS.has(objectType)) for (const parts of objects) pushRelation(nameFrom(parts.slice(0, -1)), ctx, at);
  if (objectType === 'policy') privilege(ctx, 'row_policy', objects.map((parts) => parts.at(-2) ?? '').join(', '));
  if (objectType === 'schema')
    for (const parts of objects) pushRelation({ schema: parts.at(-1) ?? '', name: '*' }, ctx, at);
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

/** DROP of one object whose name is the member `key`. */
function dropOther(objectType: string, key: string): Handler {
  return (node, ctx) => pushDrop(objectType, [{ schema: null, name: text(node, key) }], node, ctx);
}

function dropRole(node: Tree, ctx: Context): void {
  const names = dropRoles('role', node, ctx);
  privilege(ctx, 'role_ddl', names.join(', '));
}

function dropRoles(objectType: string, node: Tree, ctx: Context): readonly string[] {
  const names = typedList(node, 'roles').map(
    (r) => text(r.node, 'rolename') || text(r.node, 'roletype').replace('ROLESPEC_', '').toLowerCase(),
  );
  const objects = names.map((name) => ({ schema: null, name }));
  pushDrop(objectType, objects, node, ctx);
  return names;
}

function pushDrop(objectType: string, objects: readonly SqlName[], node: Tree, ctx: Context): void {
  const cascade = text(node, 'behavior') === 'DROP_CASCADE';
  const [concurrently, ifExists] = [flag(node, 'concurrent'), flag(node, 'missing_ok')];
  ctx.facts.drops.push({ objectType, objects, cascade, concurrently, ifExists, ...occurrence(ctx) });
  if (cascade) ctx.facts.cascades.push({ what: 'drop', ...occurrence(ctx) });
}

export function pushRelation(name: SqlName, ctx: Context, at = occurrence(ctx)): void {
  ctx.facts.relations.push({ relation: name, access: 'ddl', ...at });
}

/** Name parts of an object in DROP and COMMENT, which is a List, a String, a TypeName or an ObjectWithArgs node. */
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

function securityLabel(node: Tree, ctx: Context): void {
  privilege(ctx, 'security_label');
  describe(node, ctx);
}

/** COMMENT ON and SECURITY LABEL change nothing in their object, but they reference it. */
function describe(node: Tree, ctx: Context): void {
  const objectType = text(node, 'objtype').replace('OBJECT_', '').toLowerCase();
  const parts = objectParts(node['object']);
  if (RELATIONS.has(objectType)) pushRelation(nameFrom(parts), ctx);
  if (TABLE_MEMBERS.has(objectType)) pushRelation(nameFrom(parts.slice(0, -1)), ctx);
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
