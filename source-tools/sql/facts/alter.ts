import type { SqlName } from './sql-facts';
import { column, constraint } from './columns';
import { objectParts } from './drop';
import type { Tree } from './parser';
import { privilege } from './privileges';
import { child, flag, has, list, nameFrom, number, strings, text, typed, typedList, typeNameOf } from './tree';
import { occurrence, relation, type Context, type Handler, type Walker } from './walker';

/** All forms of ALTER. Action names are the grammar's names in snake_case. */
export const alterHandlers: readonly (readonly [string, Handler])[] = [
  ['AlterTableStmt', alterTable],
  ['AlterDomainStmt', alterDomain],
  ['RenameStmt', rename],
  ['AlterOwnerStmt', (node, ctx) => alterObject('owner_to', node, ctx)],
  ['AlterObjectSchemaStmt', (node, ctx) => alterObject('set_schema', node, ctx)],
  ['AlterObjectDependsStmt', (node, ctx) => alterObject('depends_on', node, ctx)],
  ['ReassignOwnedStmt', (_node, ctx) => pushAlter('reassign_owned', 'role', null, ctx)],
  ['AlterEnumStmt', alterEnum],
  ['AlterFunctionStmt', alterFunction],
  [
    'AlterSeqStmt',
    (node, ctx) => pushAlter('alter_sequence', 'sequence', relation(ctx, child(node, 'sequence'), 'ddl'), ctx),
  ],
  [
    'AlterPolicyStmt',
    (node, ctx) => pushAlter('alter_policy', 'policy', relation(ctx, child(node, 'table'), 'ddl'), ctx),
  ],
  ['AlterTableMoveAllStmt', (_node, ctx) => pushAlter('move_all', 'tablespace', null, ctx)],
];

const COMMANDS: Readonly<Record<string, string>> = {
  AT_AddColumn: 'add_column',
  AT_DropColumn: 'drop_column',
  AT_AlterColumnType: 'alter_column_type',
  AT_SetNotNull: 'set_not_null',
  AT_DropNotNull: 'drop_not_null',
  AT_AddConstraint: 'add_constraint',
  AT_DropConstraint: 'drop_constraint',
  AT_ValidateConstraint: 'validate_constraint',
  AT_SetUnLogged: 'set_unlogged',
  AT_DetachPartition: 'detach_partition',
  AT_ChangeOwner: 'owner_to',
  AT_DisableRowSecurity: 'disable_rls',
  AT_NoForceRowSecurity: 'no_force_rls',
  AT_DisableTrig: 'disable_trigger',
  AT_DisableTrigAll: 'disable_trigger',
  AT_DisableTrigUser: 'disable_trigger',
  AT_DisableRule: 'disable_rule',
};

function alterTable(node: Tree, ctx: Context, walk: Walker): void {
  const table = relation(ctx, child(node, 'relation'), 'ddl');
  const objectType = objectWord(node, 'objtype');
  for (const { node: command } of typedList(node, 'cmds')) {
    const subtype = text(command, 'subtype');
    const action =
      COMMANDS[subtype] ??
      subtype
        .replace('AT_', '')
        .replace(/([a-z])([A-Z])/g, '$1_$2')
        .toLowerCase();
    const definition = typed(command['def']);
    const isColumn = definition?.type === 'ColumnDef';
    const member = text(command, 'name') || (isColumn ? text(definition.node, 'colname') : '');
    const place = occurrence(ctx);
    ctx.facts.alters.push({
      action,
      objectType,
      object: table,
      member: member === '' ? null : member,
      ifExists: flag(command, 'missing_ok'),
      concurrently: definition?.type === 'PartitionCmd' && flag(definition.node, 'concurrent'),
      ...place,
    });
    if (text(command, 'behavior') === 'DROP_CASCADE') ctx.facts.cascades.push({ what: 'alter', ...place });
    if (action === 'add_column' && isColumn && objectType !== 'type')
      column(definition.node, table, 'add_column', flag(command, 'missing_ok'), ctx);
    if (action === 'add_constraint' && definition?.type === 'Constraint')
      constraint(definition.node, table, 'add_constraint', ctx);
    if (action === 'alter_column_type' && isColumn) {
      const type = typeNameOf(child(definition.node, 'typeName'));
      const at = occurrence(ctx, number(definition.node, 'location'));
      ctx.facts.columns.push({
        table,
        column: member,
        origin: 'alter_type',
        type,
        sized: list(child(definition.node, 'typeName'), 'typmods').length > 0,
        notNull: false,
        defaultKind: 'none',
        generatedStored: false,
        identity: false,
        ifNotExists: false,
        ...at,
      });
    }
    if (action === 'disable_rls' || action === 'no_force_rls') privilege(ctx, 'disable_rls', table.name);
    if (action === 'disable_trigger' || action === 'disable_rule') privilege(ctx, 'disable_trigger', table.name);
  }
  walk.children(node, ctx, ['relation']);
}

const DOMAIN_ACTIONS: Readonly<Record<string, string>> = {
  T: 'column_default',
  N: 'drop_not_null',
  O: 'set_not_null',
  C: 'add_constraint',
  X: 'drop_constraint',
  V: 'validate_constraint',
};

function alterDomain(node: Tree, ctx: Context, walk: Walker): void {
  const action = DOMAIN_ACTIONS[text(node, 'subtype')] ?? 'alter_domain';
  pushAlter(action, 'domain', nameFrom(strings(list(node, 'typeName'))), ctx);
  if (text(node, 'behavior') === 'DROP_CASCADE') ctx.facts.cascades.push({ what: 'alter', ...occurrence(ctx) });
  const definition = typed(node['def']);
  if (definition?.type === 'Constraint') constraint(definition.node, null, 'domain_alter', ctx);
  walk.children(node, ctx);
}

function rename(node: Tree, ctx: Context, walk: Walker): void {
  const objectType = objectWord(node, 'renameType');
  const range = child(node, 'relation');
  const object = has(range, 'relname') ? relation(ctx, range, 'ddl') : nameFrom(objectParts(node['object']));
  const member = text(node, 'subname');
  ctx.facts.alters.push({
    action: 'rename',
    objectType,
    object,
    member: member === '' ? null : member,
    ifExists: flag(node, 'missing_ok'),
    concurrently: false,
    ...occurrence(ctx),
  });
  if (text(node, 'behavior') === 'DROP_CASCADE') ctx.facts.cascades.push({ what: 'alter', ...occurrence(ctx) });
}

function alterObject(action: string, node: Tree, ctx: Context): void {
  const range = child(node, 'relation');
  const object = has(range, 'relname') ? relation(ctx, range, 'ddl') : nameFrom(objectParts(node['object']));
  pushAlter(action, objectWord(node, 'objectType'), object, ctx);
}

function alterEnum(node: Tree, ctx: Context): void {
  const isRename = text(node, 'oldVal') !== '';
  const isPlaced = text(node, 'newValNeighbor') !== '';
  pushAlter(
    isRename ? 'rename' : isPlaced ? 'add_enum_value_placed' : 'add_enum_value',
    isRename ? 'enum_value' : 'type',
    nameFrom(strings(list(node, 'typeName'))),
    ctx,
  );
}

function alterFunction(node: Tree, ctx: Context, walk: Walker): void {
  const name = nameFrom(strings(list(child(node, 'func'), 'objname')));
  pushAlter('alter_function', objectWord(node, 'objtype'), name, ctx);
  const actions = typedList(node, 'actions').map((a) => a.node);
  const definer = actions.some((a) => text(a, 'defname') === 'security' && typed(a['arg'])?.node['boolval'] === true);
  if (definer)
    privilege(ctx, setsSearchPath(actions) ? 'security_definer' : 'security_definer_no_search_path', name.name);
  walk.children(node, ctx);
}

/** True if a function sets search_path. Without it, a SECURITY DEFINER function resolves names by the caller's search_path. */
export function setsSearchPath(settings: readonly Tree[]): boolean {
  return settings.some((o) => {
    const set = typed(o['arg']);
    return (
      text(o, 'defname') === 'set' &&
      set?.type === 'VariableSetStmt' &&
      text(set.node, 'name') === 'search_path' &&
      text(set.node, 'kind') !== 'VAR_RESET'
    );
  });
}

function pushAlter(action: string, objectType: string, object: SqlName | null, ctx: Context): void {
  ctx.facts.alters.push({
    action,
    objectType,
    object,
    member: null,
    ifExists: false,
    concurrently: false,
    ...occurrence(ctx),
  });
}

function objectWord(node: Tree, key: string): string {
  return text(node, key).replace('OBJECT_', '').toLowerCase();
}
