import { wordList } from '../../../policy/text/word-list';
import type { Tree } from './parser';
import { child, flag, isOptionOn, list, nodeOf, options, strings, text, typedList } from './tree';
import { occurrence, privilege, relation, type Context, type Handler, type Walker } from './walker';

/** GRANT, REVOKE and role DDL. `session.ts` and `alter.ts` record the privilege changes made by settings and row security. */
export const privilegeHandlers: readonly (readonly [string, Handler])[] = [
  ['GrantStmt', grant],
  ['GrantRoleStmt', grantRole],
  ['AlterDefaultPrivilegesStmt', defaultPrivileges],
  ['CreateRoleStmt', role],
  ['AlterRoleStmt', role],
  ['CreatePublicationStmt', publication],
  ['AlterPublicationStmt', publication],
];

/** Superusers of PostgreSQL and of hosted databases. Predefined roles (pg_…) give access beyond the database. */
const SUPERUSERS: ReadonlySet<string> = new Set(
  wordList('postgres rds_superuser cloudsqlsuperuser alloydbsuperuser azure_pg_admin supabase_admin'),
);

function isPowerful(role: string): boolean {
  return role.startsWith('pg_') || SUPERUSERS.has(role);
}

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
  recordCascade(node, ctx);
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
  recordCascade(node, ctx);
  if (!isGrant) return;
  if (isOptionOn(options(node, 'opt'), 'admin')) privilege(ctx, 'grant_option', granted.join(', '));
  const powerful = granted.filter(isPowerful);
  if (powerful.length > 0) privilege(ctx, 'role_escalation', powerful.join(', '));
}

/** REVOKE … CASCADE also takes the right from those to whom it was granted on. */
function recordCascade(node: Tree, ctx: Context): void {
  if (text(node, 'behavior') === 'DROP_CASCADE') ctx.facts.cascades.push({ what: 'revoke', ...occurrence(ctx) });
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
  const powerful = [name, ...memberOf].filter(isPowerful);
  if (powerful.length > 0) privilege(ctx, 'role_escalation', powerful.join(', '));
}

/** True if a role gets an option that bypasses access control, or CREATEROLE, which before version 16 grants predefined roles. */
function escalates(node: Tree): boolean {
  return ['superuser', 'bypassrls', 'isreplication', 'createrole'].some((name) => isOptionOn(options(node), name));
}

/** Rows of published tables are sent to the servers that subscribe. */
function publication(node: Tree, ctx: Context, walk: Walker): void {
  privilege(ctx, 'publication', text(node, 'pubname'));
  walk.children(node, ctx);
}

function roleNames(node: Tree, key: string): readonly string[] {
  return typedList(node, key).map((r) =>
    r.type === 'AccessPriv' ? text(r.node, 'priv_name') : text(r.node, 'rolename'),
  );
}
