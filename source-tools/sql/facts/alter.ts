import type { AlterFact, SqlName } from './sql-facts';
import { column, constraint, typeOf } from './columns';
import { recordOwningTable } from './ddl';
import { objectParts, pushRelation, RELATIONS } from './drop';
import type { Tree } from './parser';
import {
  child,
  flag,
  has,
  isOptionOn,
  nameAt,
  nameFrom,
  number,
  options,
  text,
  typed,
  typedList,
  type TypedNode,
} from './tree';
import { occurrence, privilege, relation, type Context, type Handler, type Walker } from './walker';

/** All forms of ALTER. Action names are the grammar's names in snake_case, except for `ACTIONS`. */
export const alterHandlers: readonly (readonly [string, Handler])[] = [
  ['AlterTableStmt', alterTable],
  ['AlterDomainStmt', alterDomain],
  ['RenameStmt', rename],
  ['AlterOwnerStmt', (node, ctx) => void alterObject('owner_to', node, ctx)],
  ['AlterObjectSchemaStmt', setSchema],
  ['AlterObjectDependsStmt', (node, ctx) => void alterObject('depends_on', node, ctx)],
  ['ReassignOwnedStmt', (_node, ctx) => pushAlter(ctx, { action: 'reassign_owned', objectType: 'role' })],
  ['AlterEnumStmt', alterEnum],
  ['AlterFunctionStmt', alterFunction],
  ['AlterSeqStmt', alterSequence],
  ['CreatePolicyStmt', (node, ctx, walk) => void policy(node, ctx, walk)],
  ['AlterPolicyStmt', alterPolicy],
  ['AlterTableMoveAllStmt', (_node, ctx) => pushAlter(ctx, { action: 'move_all', objectType: 'tablespace' })],
];

/** Actions that differ from the grammar's names. */
const ACTIONS: Readonly<Record<string, string>> = {
  AT_SetUnLogged: 'set_unlogged',
  AT_SetTableSpace: 'set_tablespace',
  AT_DropInherit: 'no_inherit',
  AT_ChangeOwner: 'owner_to',
  AT_EnableRowSecurity: 'enable_rls',
  AT_ForceRowSecurity: 'force_rls',
  AT_DisableRowSecurity: 'disable_rls',
  AT_NoForceRowSecurity: 'no_force_rls',
  AT_DisableTrig: 'disable_trigger',
  AT_DisableTrigAll: 'disable_trigger',
  AT_DisableTrigUser: 'disable_trigger',
};

function alterTable(node: Tree, ctx: Context, walk: Walker): void {
  const table = relation(ctx, child(node, 'relation'), 'ddl');
  const objectType = objectWord(node, 'objtype');
  for (const { node: command } of typedList(node, 'cmds')) {
    const definition = typed(command['def']);
    const action = actionOf(text(command, 'subtype'), definition);
    const isColumn = definition?.type === 'ColumnDef';
    const member = text(command, 'name') || memberOf(definition);
    pushAlter(ctx, {
      action,
      objectType,
      object: table,
      member,
      ifExists: flag(command, 'missing_ok'),
      concurrently: definition?.type === 'PartitionCmd' && flag(definition.node, 'concurrent'),
    });
    recordCascade(command, ctx);
    if (action === 'add_column' && isColumn && objectType !== 'type')
      column(definition.node, table, 'add_column', flag(command, 'missing_ok'), ctx);
    if (action === 'add_constraint' && definition?.type === 'Constraint')
      constraint(definition.node, table, 'add_constraint', ctx);
    if (action === 'alter_column_type' && isColumn) {
      const { type, sized } = typeOf(definition.node);
      ctx.facts.columns.push({
        table,
        column: member,
        origin: 'alter_type',
        type,
        sized,
        notNull: false,
        defaultKind: 'none',
        generatedStored: false,
        identity: false,
        ifNotExists: false,
        ...occurrence(ctx, number(definition.node, 'location')),
      });
    }
    recordRights(action, table, definition, ctx);
    if (action === 'generic_options' && objectType === 'foreign_table')
      ctx.facts.serverExecution.push({ what: 'foreign_table', subject: table.name, ...occurrence(ctx) });
  }
  walk.children(node, ctx, ['relation']);
}

function actionOf(subtype: string, definition: TypedNode | null): string {
  if (definition?.type === 'ATAlterConstraint' && flag(definition.node, 'alterEnforceability'))
    return flag(definition.node, 'is_enforced') ? 'enforce_constraint' : 'stop_enforcing_constraint';
  return (
    ACTIONS[subtype] ??
    subtype
      .replace('AT_', '')
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase()
  );
}

function memberOf(definition: TypedNode | null): string {
  if (definition?.type === 'ColumnDef') return text(definition.node, 'colname');
  return definition?.type === 'ATAlterConstraint' ? text(definition.node, 'conname') : '';
}

/** Options that decide with whose rights a view reads its tables, and whether a function in a condition sees rows that it hides. */
const VIEW_SECURITY: ReadonlySet<string> = new Set(['security_invoker', 'security_barrier']);

/** A trigger or rule with ENABLE REPLICA does not fire in an ordinary session. */
const SILENCING: ReadonlySet<string> = new Set([
  'disable_trigger',
  'disable_rule',
  'enable_replica_trig',
  'enable_replica_rule',
]);

/** Records changes of row security, triggers, rules, and the rights with which a view reads. */
function recordRights(action: string, { name }: SqlName, definition: TypedNode | null, ctx: Context): void {
  if (action === 'enable_rls' || action === 'force_rls') privilege(ctx, 'row_policy', name);
  if (action === 'disable_rls' || action === 'no_force_rls') privilege(ctx, 'disable_rls', name);
  if (SILENCING.has(action)) privilege(ctx, 'disable_trigger', name);
  const changed = definition?.type === 'List' ? options(definition.node, 'items') : [];
  if (action.endsWith('_rel_options') && changed.some((option) => VIEW_SECURITY.has(text(option, 'defname'))))
    privilege(ctx, 'view_security', name);
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
  pushAlter(ctx, { action, objectType: 'domain', object: nameAt(node, 'typeName') });
  recordCascade(node, ctx);
  const definition = typed(node['def']);
  if (definition?.type === 'Constraint') constraint(definition.node, null, 'domain_alter', ctx);
  walk.children(node, ctx);
}

function rename(node: Tree, ctx: Context): void {
  const objectType = objectWord(node, 'renameType');
  const object = alteredObject(node, ctx);
  if (RELATIONS.has(objectType)) pushRelation({ schema: object.schema, name: text(node, 'newname') }, ctx);
  pushAlter(ctx, {
    action: 'rename',
    objectType,
    object,
    member: text(node, 'subname'),
    ifExists: flag(node, 'missing_ok'),
  });
  recordCascade(node, ctx);
}

function setSchema(node: Tree, ctx: Context): void {
  const { name } = alterObject('set_schema', node, ctx);
  if (has(child(node, 'relation'), 'relname')) pushRelation({ schema: text(node, 'newschema'), name }, ctx);
}

function alterObject(action: string, node: Tree, ctx: Context): SqlName {
  const object = alteredObject(node, ctx);
  pushAlter(ctx, { action, objectType: objectWord(node, 'objectType'), object });
  return object;
}

function alteredObject(node: Tree, ctx: Context): SqlName {
  const range = child(node, 'relation');
  return has(range, 'relname') ? relation(ctx, range, 'ddl') : nameFrom(objectParts(node['object']));
}

function alterSequence(node: Tree, ctx: Context): void {
  const keepsValues = options(node).every((option) => ['owned_by', 'cache'].includes(text(option, 'defname')));
  pushAlter(ctx, {
    action: keepsValues ? 'alter_sequence' : 'alter_sequence_values',
    objectType: 'sequence',
    object: relation(ctx, child(node, 'sequence'), 'ddl'),
  });
  recordOwningTable(node, ctx);
}

function alterPolicy(node: Tree, ctx: Context, walk: Walker): void {
  pushAlter(ctx, { action: 'alter_policy', objectType: 'policy', object: policy(node, ctx, walk) });
}

/** CREATE POLICY and ALTER POLICY. Returns the table. */
function policy(node: Tree, ctx: Context, walk: Walker): SqlName {
  const table = relation(ctx, child(node, 'table'), 'ddl');
  privilege(ctx, 'row_policy', table.name);
  walk.children(node, ctx, ['table']);
  return table;
}

function alterEnum(node: Tree, ctx: Context): void {
  const isRename = text(node, 'oldVal') !== '';
  const isPlaced = text(node, 'newValNeighbor') !== '';
  pushAlter(ctx, {
    action: isRename ? 'rename' : isPlaced ? 'add_enum_value_placed' : 'add_enum_value',
    objectType: isRename ? 'enum_value' : 'type',
    object: nameAt(node, 'typeName'),
  });
}

function alterFunction(node: Tree, ctx: Context, walk: Walker): void {
  const name = nameAt(child(node, 'func'), 'objname');
  pushAlter(ctx, { action: 'alter_function', objectType: objectWord(node, 'objtype'), object: name });
  recordFunctionRights(options(node, 'actions'), name, ctx);
  walk.children(node, ctx);
}

/** Records options with which a function runs with other rights or sees rows that its caller does not see. */
export function recordFunctionRights(settings: readonly Tree[], { name }: SqlName, ctx: Context): void {
  if (isOptionOn(settings, 'security'))
    privilege(ctx, setsSearchPath(settings) ? 'security_definer' : 'security_definer_no_search_path', name);
  if (isOptionOn(settings, 'leakproof')) privilege(ctx, 'leakproof', name);
}

/** True if a function sets search_path. Without it, a SECURITY DEFINER function resolves names by the caller's search_path. */
function setsSearchPath(settings: readonly Tree[]): boolean {
  return settings.some((o) => {
    const set = typed(o['arg']);
    return (
      text(o, 'defname') === 'set' &&
      set?.type === 'VariableSetStmt' &&
      text(set.node, 'name') === 'search_path' &&
      ['VAR_SET_VALUE', 'VAR_SET_CURRENT'].includes(text(set.node, 'kind'))
    );
  });
}

/** An empty `member` counts as absent. */
function pushAlter(
  ctx: Context,
  {
    action,
    objectType,
    object = null,
    member = '',
    ifExists = false,
    concurrently = false,
  }: Pick<AlterFact, 'action' | 'objectType'> & Partial<AlterFact>,
): void {
  ctx.facts.alters.push({
    action,
    objectType,
    object,
    member: member === '' ? null : member,
    ifExists,
    concurrently,
    ...occurrence(ctx),
  });
}

function recordCascade(node: Tree, ctx: Context): void {
  if (text(node, 'behavior') === 'DROP_CASCADE') ctx.facts.cascades.push({ what: 'alter', ...occurrence(ctx) });
}

function objectWord(node: Tree, key: string): string {
  return text(node, key).replace('OBJECT_', '').toLowerCase();
}
