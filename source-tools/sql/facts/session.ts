import type { SettingFact } from './sql-facts';
import { foldText } from './constant';
import type { Tree } from './parser';
import { child, flag, list, options, text, typed, typedList } from './tree';
import { occurrence, type Context, type Handler, type Walker } from './walker';

/** Transaction control and settings. */
export const sessionHandlers: readonly (readonly [string, Handler])[] = [
  ['TransactionStmt', transaction],
  ['VariableSetStmt', (node, ctx, walk) => setVariable(node, ctx, walk, flag(node, 'is_local') ? 'local' : 'session')],
  ['AlterSystemStmt', alterSystem],
  ['AlterRoleSetStmt', (node, ctx, walk) => setVariable(child(node, 'setstmt'), ctx, walk, 'role')],
  ['AlterDatabaseSetStmt', (node, ctx, walk) => setVariable(child(node, 'setstmt'), ctx, walk, 'database')],
  ['DiscardStmt', (_node, ctx, walk) => setting(ctx, { name: '*', change: 'reset', scope: 'session', value: null })],
];

function transaction(node: Tree, ctx: Context, walk: Walker): void {
  const kind = text(node, 'kind').replace('TRANS_STMT_', '').toLowerCase();
  ctx.facts.transactionControl.push({ kind, chain: flag(node, 'chain'), ...occurrence(ctx) });
}

/** Records one SET, RESET or SET LOCAL. SET TRANSACTION and SESSION CHARACTERISTICS can change several settings. */
export function setVariable(node: Tree, ctx: Context, walk: Walker, scope: SettingFact['scope']): void {
  const kind = text(node, 'kind');
  if (kind === 'VAR_SET_MULTI') {
    for (const option of options(node, 'args'))
      setting(ctx, {
        name: text(option, 'defname').toLowerCase(),
        change: 'set',
        scope,
        value: foldText(option['arg']),
      });
    return;
  }
  const name = kind === 'VAR_RESET_ALL' ? '*' : text(node, 'name').toLowerCase();
  const change =
    kind === 'VAR_SET_VALUE'
      ? 'set'
      : kind === 'VAR_SET_CURRENT'
        ? 'set'
        : kind === 'VAR_SET_DEFAULT'
          ? 'default'
          : 'reset';
  const values = list(node, 'args').map(foldText);
  setting(ctx, { name, change, scope, value: values.length === 0 || values.includes(null) ? null : values.join(', ') });
  // SET or RESET of the role or session authorization changes the privileges of all later statements.
  if (name === 'role' || name === 'session_authorization')
    ctx.facts.privileges.push({ what: 'set_role', subject: name, ...occurrence(ctx) });
  if (name === 'session_replication_role' && change === 'set')
    ctx.facts.privileges.push({ what: 'replication_role', subject: name, ...occurrence(ctx) });
}

export function setting(ctx: Context, fact: Pick<SettingFact, 'name' | 'change' | 'scope' | 'value'>): void {
  const { statement, span, path, via } = occurrence(ctx);
  ctx.facts.settings.push({ statement, span, path, via, ...fact });
}

function alterSystem(node: Tree, ctx: Context, walk: Walker): void {
  setVariable(child(node, 'setstmt'), ctx, walk, 'system');
  ctx.facts.serverExecution.push({
    what: 'alter_system',
    subject: text(child(node, 'setstmt'), 'name').toLowerCase(),
    ...occurrence(ctx),
  });
}

/** True if a role gets an option that bypasses access control: SUPERUSER, BYPASSRLS or REPLICATION. */
export function escalates(node: Tree): boolean {
  return options(node).some(
    (o) =>
      ['superuser', 'bypassrls', 'isreplication'].includes(text(o, 'defname')) &&
      typed(o['arg'])?.node['boolval'] === true,
  );
}

export function roleNames(node: Tree, key: string): readonly string[] {
  return typedList(node, key).map((r) =>
    r.type === 'AccessPriv' ? text(r.node, 'priv_name') : text(r.node, 'rolename'),
  );
}
