import type { Tree } from './parser';
import { child, flag, isOptionOn, list, nodeOf, options, strings, text, typedList } from './tree';
import { occurrence, privilege, relation, type Context, type Handler } from './walker';

/** GRANT, REVOKE and role DDL. `session.ts` and `alter.ts` record the privilege changes made by settings and row security. */
export const privilegeHandlers: readonly (readonly [string, Handler])[] = [
  ['GrantStmt', grant],
  ['GrantRoleStmt', grantRole],
  ['AlterDefaultPrivilegesStmt', defaultPrivileges],
  ['CreateRoleStmt', role],
  ['AlterRoleStmt', role],
];

function grant(node: Tree, ctx: Context): void {
  recordGrant(node, ctx);
  if (text(node, 'targtype') === 'ACL_TARGET_ALL_IN_SCHEMA') {
    for (const schema of strings(list(node, 'objects')))
      ctx.facts.relations.push({ relation: { schema, name: '*' }, access: 'ddl', ...occurrence(ctx) });
    return;
  }
  for (const object of typedList(node, 'objects')) if (object.type === 'RangeVar') relation(ctx, object.node, 'ddl');
}

function recordGrant(node: Tree, ctx: Context): void {
  const isGrant = flag(node, 'is_grant');
  privilege(ctx, isGrant ? 'grant' : 'revoke');
  if (!isGrant) return;
  if (typedList(node, 'grantees').some((g) => text(g.node, 'roletype') === 'ROLESPEC_PUBLIC'))
    privilege(ctx, 'grant_public');
  if (flag(node, 'grant_option')) privilege(ctx, 'grant_option');
  if (text(node, 'objtype') === 'OBJECT_PARAMETER_ACL')
    privilege(ctx, 'grant_parameter', strings(list(node, 'objects')).join(', '));
}

function grantRole(node: Tree, ctx: Context): void {
  const isGrant = flag(node, 'is_grant');
  const granted = roleNames(node, 'granted_roles');
  privilege(ctx, isGrant ? 'grant' : 'revoke', granted.join(', '));
  if (!isGrant) return;
  if (isOptionOn(options(node, 'opt'), 'admin')) privilege(ctx, 'grant_option', granted.join(', '));
  // Predefined roles such as pg_execute_server_program give access beyond the database.
  const predefined = granted.filter((name) => name.startsWith('pg_'));
  if (predefined.length > 0) privilege(ctx, 'role_escalation', predefined.join(', '));
}

function defaultPrivileges(node: Tree, ctx: Context): void {
  privilege(ctx, 'default_privileges');
  recordGrant(child(node, 'action'), ctx);
}

function role(node: Tree, ctx: Context): void {
  const name = text(node, 'role') || text(child(node, 'role'), 'rolename');
  privilege(ctx, 'role_ddl', name);
  if (escalates(node)) privilege(ctx, 'role_escalation', name);
  const settings = options(node);
  if (settings.some((o) => text(o, 'defname') === 'adminmembers')) privilege(ctx, 'grant_option', name);
  const memberOf = settings
    .filter((o) => text(o, 'defname') === 'addroleto')
    .flatMap((o) => roleNames(nodeOf(o['arg']), 'items'));
  if (name.startsWith('pg_') || memberOf.some((n) => n.startsWith('pg_')))
    privilege(ctx, 'role_escalation', memberOf.join(', '));
}

/** True if a role gets an option that bypasses access control: SUPERUSER, BYPASSRLS or REPLICATION. */
function escalates(node: Tree): boolean {
  return ['superuser', 'bypassrls', 'isreplication'].some((name) => isOptionOn(options(node), name));
}

function roleNames(node: Tree, key: string): readonly string[] {
  return typedList(node, key).map((r) =>
    r.type === 'AccessPriv' ? text(r.node, 'priv_name') : text(r.node, 'rolename'),
  );
}
