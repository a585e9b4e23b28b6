import type { SettingFact } from './sql-facts';
import { wordList } from '../../../policy/text/word-list';
import { foldText } from './constant';
import type { Tree } from './parser';
import { child, flag, list, options, text } from './tree';
import { occurrence, privilege, type Context, type Handler } from './walker';

/** Transaction control and settings. */
export const sessionHandlers: readonly (readonly [string, Handler])[] = [
  ['TransactionStmt', transaction],
  ['VariableSetStmt', (node, ctx) => setVariable(node, ctx, flag(node, 'is_local') ? 'local' : 'session')],
  ['AlterSystemStmt', alterSystem],
  ['AlterRoleSetStmt', (node, ctx) => setVariable(child(node, 'setstmt'), ctx, 'role')],
  ['AlterDatabaseSetStmt', (node, ctx) => setVariable(child(node, 'setstmt'), ctx, 'database')],
  ['DiscardStmt', (_node, ctx) => setting(ctx, { name: '*', change: 'reset', scope: 'session', value: null })],
];

function transaction(node: Tree, ctx: Context): void {
  const kind = text(node, 'kind').replace('TRANS_STMT_', '').toLowerCase();
  ctx.facts.transactionControl.push({ kind, chain: flag(node, 'chain'), ...occurrence(ctx) });
}

/** Records one SET, RESET or SET LOCAL. SET TRANSACTION and SESSION CHARACTERISTICS can change several settings. */
export function setVariable(node: Tree, ctx: Context, scope: SettingFact['scope']): void {
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
    kind === 'VAR_SET_VALUE' || kind === 'VAR_SET_CURRENT' ? 'set' : kind === 'VAR_SET_DEFAULT' ? 'default' : 'reset';
  const values = list(node, 'args').map(foldText);
  setting(ctx, { name, change, scope, value: values.length === 0 || values.includes(null) ? null : values.join(', ') });
}

/** Settings that name libraries which the server loads, or where it finds them. */
const LIBRARIES: ReadonlySet<string> = new Set(
  wordList(`
  session_preload_libraries local_preload_libraries shared_preload_libraries jit_provider archive_library
  oauth_validator_libraries dynamic_library_path extension_control_path
`),
);

export function setting(ctx: Context, fact: Pick<SettingFact, 'name' | 'change' | 'scope' | 'value'>): void {
  const { name, change, scope, value } = fact;
  ctx.facts.settings.push({ name, change, scope, value, ...occurrence(ctx) });
  // SET or RESET of the role or session authorization changes the privileges of all later statements.
  if (name === 'role' || name === 'session_authorization') privilege(ctx, 'set_role', name);
  if (change !== 'set') return;
  if (name === 'session_replication_role') privilege(ctx, 'replication_role', name);
  if (LIBRARIES.has(name)) ctx.facts.serverExecution.push({ what: 'load', subject: name, ...occurrence(ctx) });
}

function alterSystem(node: Tree, ctx: Context): void {
  setVariable(child(node, 'setstmt'), ctx, 'system');
  ctx.facts.serverExecution.push({
    what: 'alter_system',
    subject: text(child(node, 'setstmt'), 'name').toLowerCase(),
    ...occurrence(ctx),
  });
}
