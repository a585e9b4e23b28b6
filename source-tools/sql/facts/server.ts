import type { ServerExecutionFact } from './sql-facts';
import { created } from './ddl';
import type { Tree } from './parser';
import { text } from './tree';
import { occurrence, type Context, type Handler, type Walker } from './walker';

/** Statements that reach the server's files, processes, libraries or other servers. */
export const serverHandlers: readonly (readonly [string, Handler])[] = [
  ['LoadStmt', reaches('load')],
  ['CreateExtensionStmt', extension],
  ['AlterExtensionStmt', reaches('extension', 'extname')],
  ['AlterExtensionContentsStmt', reaches('extension', 'extname')],
  ['CreatePLangStmt', reaches('language', 'plname')],
  ['CreateSubscriptionStmt', reaches('subscription', 'subname')],
  ['AlterSubscriptionStmt', reaches('subscription', 'subname')],
  ['CreateForeignServerStmt', reaches('foreign_server', 'servername')],
  ['AlterForeignServerStmt', reaches('foreign_server', 'servername')],
  ['CreateFdwStmt', reaches('foreign_data_wrapper', 'fdwname')],
  ['AlterFdwStmt', reaches('foreign_data_wrapper', 'fdwname')],
  ['CreateUserMappingStmt', reaches('user_mapping', 'servername')],
  ['AlterUserMappingStmt', reaches('user_mapping', 'servername')],
  ['ImportForeignSchemaStmt', reaches('import_foreign_schema', 'server_name')],
  ['CreateEventTrigStmt', reaches('event_trigger', 'trigname')],
  ['AlterEventTrigStmt', reaches('event_trigger', 'trigname')],
  ['CreateTableSpaceStmt', reaches('tablespace', 'tablespacename')],
];

function reaches(what: ServerExecutionFact['what'], subject = ''): Handler {
  return (node, ctx, walk) => {
    ctx.facts.serverExecution.push({ what, subject: subject === '' ? '' : text(node, subject), ...occurrence(ctx) });
    walk.children(node, ctx);
  };
}

function extension(node: Tree, ctx: Context, walk: Walker): void {
  reaches('extension', 'extname')(node, ctx, walk);
  created(ctx, 'extension', { schema: null, name: text(node, 'extname') }, false, node['if_not_exists'] === true);
}
