import type { PrivilegeFact } from './sql-facts';
import type { Tree } from './parser';
import { escalates, roleNames } from './session';
import { child, flag, isOn, list, options, strings, text, typed, typedList } from './tree';
import { occurrence, relation, type Context, type Handler, type Walker } from './walker';

/** GRANT, REVOKE and role DDL. `session.ts` and `alter.ts` record the privilege changes made by settings and row security. */
export const privilegeHandlers: readonly (readonly [string, Handler])[] = [
  ['GrantStmt', grant],
  ['GrantRoleStmt', grantRole],
  ['AlterDefaultPrivilegesStmt', defaultPrivileges],
  ['CreateRoleStmt', role],
  ['AlterRoleStmt', role],
];

export function privilege(ctx: Context, what: PrivilegeFact['what'], subject = ''): void {
  ctx.facts.privileges.push({ what, subject, ...occurrence(ctx) });
}

function grant(node: Tree, ctx: Context, walk: Walker): void {
  recordGrant(node, ctx, walk);
  if (text(node, 'targtype') === 'ACL_TARGET_ALL_IN_SCHEMA') {
    for (const schema of strings(list(node, 'objects')))
      ctx.facts.relations.push({ relation: { schema, name: '*' }, access: 'ddl', ...occurrence(ctx) });
    return;
  }
  for (const object of typedList(node, 'objects')) if (object.type === 'RangeVar') relation(ctx, object.node, 'ddl');
}

function recordGrant(node: Tree, ctx: Context, walk: Walker): void {
  const isGrant = flag(node, 'is_grant');
  privilege(ctx, isGrant ? 'grant' : 'revoke');
  if (!isGrant) return;
  if (typedList(node, 'grantees').some((g) => text(g.node, 'roletype') === 'ROLESPEC_PUBLIC'))
    privilege(ctx, 'grant_public');
  if (flag(node, 'grant_option')) privilege(ctx, 'grant_option');
}

function grantRole(node: Tree, ctx: Context, walk: Walker): void {
  const isGrant = flag(node, 'is_grant');
  const granted = roleNames(node, 'granted_roles');
  privilege(ctx, isGrant ? 'grant' : 'revoke', granted.join(', '));
  if (!isGrant) return;
  if (options(node, 'opt').some((o) => text(o, 'defname') === 'admin' && isOn(o)))
    privilege(ctx, 'grant_option', granted.join(', '));
  // Predefined roles such as pg_execute_server_program give access beyond the database.
  const predefined = granted.filter((name) => name.startsWith('pg_'));
  if (predefined.length > 0) privilege(ctx, 'role_escalation', predefined.join(', '));
}

function defaultPrivileges(node: Tree, ctx: Context, walk: Walker): void {
  privilege(ctx, 'default_privileges');
  recordGrant(child(node, 'action'), ctx, walk);
}

function role(node: Tree, ctx: Context, walk: Walker): void {
  const name = text(node, 'role') || text(child(node, 'role'), 'rolename');
  privilege(ctx, 'role_ddl', name);
  if (escalates(node)) privilege(ctx, 'role_escalation', name);
  const settings = options(node);
  if (settings.some((o) => text(o, 'defname') === 'adminmembers')) privilege(ctx, 'grant_option', name);
  const memberOf = settings
    .filter((o) => text(o, 'defname') === 'addroleto')
    .flatMap((o) => roleNames(typed(o['arg'])?.node ?? {}, 'items'));
  if (name.startsWith('pg_') || memberOf.some((n) => n.startsWith('pg_')))
    privilege(ctx, 'role_escalation', memberOf.join(', '));
}
