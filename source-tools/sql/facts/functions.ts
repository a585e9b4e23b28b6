import { wordList } from '../../../policy/text/word-list';
import { fold, foldText } from './constant';
import { readText } from './dynamic';
import type { Tree } from './parser';
import { setting } from './session';
import { created } from './ddl';
import { child, flag, list, nameAt, nameFrom, options, strings, text, typed } from './tree';
import { functionCall, occurrence, occurrenceOfName, type Context, type Handler, type Walker } from './walker';

export const functionHandlers: readonly (readonly [string, Handler])[] = [
  ['FuncCall', call],
  ['DefineStmt', define],
  ['CreateRangeStmt', createRange],
  ['AlterOperatorStmt', (node, ctx) => referenceOptions(options(node), ctx)],
  ['AlterTypeStmt', (node, ctx) => referenceOptions(options(node), ctx)],
  ['CreateOpClassItem', operatorClassItem],
  ['CreateTransformStmt', transform],
  ['CreateAmStmt', (node, ctx) => referenceFunction(strings(list(node, 'handler_name')), ctx)],
  ['CreateCastStmt', (node, ctx) => referenceFunction(strings(list(child(node, 'func'), 'objname')), ctx)],
  ['CreateConversionStmt', (node, ctx) => referenceFunction(strings(list(node, 'func_name')), ctx)],
  ['CallStmt', (node, ctx, walk) => walk.visit(node['funccall'], ctx, 'funccall')],
  ['ColumnRef', (node, ctx) => callByDot(strings(list(node, 'fields')).slice(1).at(-1), node, ctx)],
  ['A_Indirection', indirection],
];

/**
 * Functions of PostgreSQL and its extensions that take one argument and are not listed as safe, with names that columns hardly have. For
 * all other names the catalog decides before the dry run.
 */
const CALLED_BY_DOT = new RegExp(
  [
    '^(?:pg|binary_upgrade|dblink|postgres_fdw)_',
    '^lo_(?:close|creat|create|export|get|import|tell|tell64|unlink)$',
    '^(?:nextval|currval|setseed|current_setting|current_schemas|ts_stat|txid_status|random_normal|uuidv7)$',
    '^(?:brin_summarize_new_values|gin_clean_pending_list)$',
  ].join('|'),
);

/** Functions with an SQL argument: its position and its name in named notation. */
const SQL_TEXT: Readonly<
  Record<string, { readonly position: number; readonly name: string; readonly minArgs?: number }>
> = {
  query_to_xml: { position: 0, name: 'query' },
  query_to_xmlschema: { position: 0, name: 'query' },
  query_to_xml_and_xmlschema: { position: 0, name: 'query' },
  ts_stat: { position: 0, name: 'query' },
  // ts_rewrite(query, target, substitute) has no SQL argument; in the form with two arguments the second is SQL.
  ts_rewrite: { position: 1, name: 'select', minArgs: 2 },
  dblink: { position: 1, name: 'sql' },
  dblink_exec: { position: 1, name: 'sql' },
  dblink_open: { position: 2, name: 'sql' },
  dblink_send_query: { position: 1, name: 'sql' },
  crosstab: { position: 0, name: 'sql' },
};

/** Options of CREATE AGGREGATE, OPERATOR and TYPE that reference a function which the server calls later. */
const NAMED_FUNCTIONS = new Set(
  wordList(`
  sfunc finalfunc combinefunc serialfunc deserialfunc msfunc minvfunc mfinalfunc function procedure restrict join input output
  receive send typmod_in typmod_out analyze subscript canonical subtype_diff start gettoken end lextypes headline init lexize
`),
);

function define(node: Tree, ctx: Context, walk: Walker): void {
  created(
    ctx,
    text(node, 'kind').replace('OBJECT_', '').toLowerCase(),
    nameAt(node, 'defnames'),
    false,
    flag(node, 'if_not_exists'),
  );
  referenceOptions(options(node, 'definition'), ctx);
  walk.children(node, ctx);
}

function createRange(node: Tree, ctx: Context): void {
  created(ctx, 'type', nameAt(node, 'typeName'));
  referenceOptions(options(node, 'params'), ctx);
}

/** An operator class names operators (1), support functions (2) and a storage type (3). */
function operatorClassItem(node: Tree, ctx: Context): void {
  if (node['itemtype'] === 2) referenceFunction(strings(list(child(node, 'name'), 'objname')), ctx);
}

function transform(node: Tree, ctx: Context): void {
  for (const direction of ['fromsql', 'tosql'])
    referenceFunction(strings(list(child(node, direction), 'objname')), ctx);
}

function referenceOptions(all: readonly Tree[], ctx: Context): void {
  for (const option of all) {
    const named = typed(option['arg']);
    if (NAMED_FUNCTIONS.has(text(option, 'defname')) && named?.type === 'TypeName')
      referenceFunction(strings(list(named.node, 'names')), ctx);
  }
}

/** Records a function that is referenced, not called: the server calls it later. */
function referenceFunction(parts: readonly string[], ctx: Context): void {
  if (parts.length > 0) functionCall(ctx, nameFrom(parts), 0, () => occurrence(ctx));
}

function call(node: Tree, ctx: Context, walk: Walker): void {
  const name = nameAt(node, 'funcname');
  const args = list(node, 'args');
  functionCall(ctx, name, args.length, () => occurrenceOfName(ctx, node));
  if (name.name === 'set_config') setConfig(args, ctx);
  const sql = SQL_TEXT[name.name];
  if (sql !== undefined && args.length >= (sql.minArgs ?? 1)) {
    // dblink('select …') without a connection has the SQL as its first argument.
    const query = argument(args, Math.min(sql.position, args.length - 1), sql.name);
    readText(query, { form: 'sql_text_function', subject: name.name }, ctx, walk);
  }
  walk.children(node, ctx);
}

function indirection(node: Tree, ctx: Context, walk: Walker): void {
  for (const name of strings(list(node, 'indirection'))) callByDot(name, node, ctx);
  walk.children(node, ctx);
}

/** `(x).f` and `alias.f` call f(x) if x has no such column. */
function callByDot(name: string | undefined, node: Tree, ctx: Context): void {
  if (name !== undefined && CALLED_BY_DOT.test(name))
    functionCall(ctx, { schema: null, name }, 1, () => occurrenceOfName(ctx, node));
}

/** The argument with this name if the call uses named notation, else the one at this position. */
function argument(args: readonly unknown[], position: number, name: string): unknown {
  const named = args.map(typed).find((a) => a?.type === 'NamedArgExpr' && text(a.node, 'name') === name);
  return named?.node['arg'] ?? args[position];
}

/** set_config(). If the setting's name is not constant, `*` is recorded. */
function setConfig(args: readonly unknown[], ctx: Context): void {
  const name = foldText(argument(args, 0, 'setting_name'))?.toLowerCase() ?? '*';
  const value = foldText(argument(args, 1, 'new_value'));
  const local = fold(argument(args, 2, 'is_local'))?.value;
  const isLocal = local === true || local === 'true';
  setting(ctx, { name, change: 'set', scope: isLocal ? 'local' : 'session', value });
}
