import type { ServerExecutionFact } from './sql-facts';
import { created } from './ddl';
import type { Tree } from './parser';
import { isOptionOn, options, text } from './tree';
import { occurrence, type Context, type Handler, type Walker } from './walker';

/** Statements that access the server's files, processes or libraries, or other servers. */
export const serverHandlers: readonly (readonly [string, Handler])[] = [
  ['LoadStmt', recordServerExecution('load')],
  ['CreateExtensionStmt', extension],
  ['AlterExtensionStmt', recordServerExecution('extension', 'extname')],
  ['AlterExtensionContentsStmt', recordServerExecution('extension', 'extname')],
  ['CreatePLangStmt', recordServerExecution('language', 'plname')],
  ['CreateSubscriptionStmt', recordServerExecution('subscription', 'subname')],
  ['AlterSubscriptionStmt', recordServerExecution('subscription', 'subname')],
  ['CreateForeignServerStmt', recordServerExecution('foreign_server', 'servername')],
  ['AlterForeignServerStmt', recordServerExecution('foreign_server', 'servername')],
  ['CreateFdwStmt', recordServerExecution('foreign_data_wrapper', 'fdwname')],
  ['AlterFdwStmt', recordServerExecution('foreign_data_wrapper', 'fdwname')],
  ['CreateUserMappingStmt', recordServerExecution('user_mapping', 'servername')],
  ['AlterUserMappingStmt', recordServerExecution('user_mapping', 'servername')],
  ['ImportForeignSchemaStmt', recordServerExecution('import_foreign_schema', 'server_name')],
  ['CreateEventTrigStmt', recordServerExecution('event_trigger', 'trigname')],
  ['AlterEventTrigStmt', recordServerExecution('event_trigger', 'trigname')],
  ['CreateTableSpaceStmt', recordServerExecution('tablespace', 'tablespacename')],
];

function recordServerExecution(what: ServerExecutionFact['what'], subject = ''): Handler {
  return (node, ctx, walk) => {
    ctx.facts.serverExecution.push({ what, subject: subject === '' ? '' : text(node, subject), ...occurrence(ctx) });
    walk.children(node, ctx);
  };
}

function extension(node: Tree, ctx: Context, walk: Walker): void {
  recordServerExecution('extension', 'extname')(node, ctx, walk);
  if (isOptionOn(options(node), 'cascade')) ctx.facts.cascades.push({ what: 'create', ...occurrence(ctx) });
  created(ctx, 'extension', { schema: null, name: text(node, 'extname') }, false, node['if_not_exists'] === true);
}
