import type { DynamicSqlFact } from './sql-facts';
import { foldText } from './constant';
import type { Tree } from './parser';
import { decodedSource } from './source';
import { text } from './tree';
import { occurrence, within, type Context, type Handler, type Walker } from './walker';

export const dynamicHandlers: readonly (readonly [string, Handler])[] = [['ExecuteStmt', executePrepared]];

/**
 * Reads SQL that is built at run time. If the text is constant it is parsed and walked, else it is recorded as not constant.
 * `argument` is an expression node.
 */
export function readText(
  argument: unknown,
  { form, subject }: Pick<DynamicSqlFact, 'form' | 'subject'>,
  ctx: Context,
  walk: Walker,
  at = occurrence(ctx),
): void {
  const sql = foldText(argument);
  // The server runs the text on its own, so the CTEs around the call are not visible in it.
  const inner = { ...within(ctx, 'dynamic SQL', 'dynamic'), ctes: null };
  const read = sql !== null && walk.nested(decodedSource(sql, at.span), inner);
  ctx.facts.dynamicSql.push({ form, constant: read, subject, ...at });
}

/** A prepared statement counts as constant only if this text prepared it; then PREPARE was already walked. */
function executePrepared(node: Tree, ctx: Context, walk: Walker): void {
  const name = text(node, 'name');
  ctx.facts.dynamicSql.push({
    form: 'execute_prepared',
    constant: ctx.prepared.has(name),
    subject: name,
    ...occurrence(ctx),
  });
  walk.children(node, ctx);
}
