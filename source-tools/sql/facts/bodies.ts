import { shown } from '../../../policy/text/shown-name';
import type { DynamicSqlFact } from './sql-facts';
import { setsSearchPath } from './alter';
import { created } from './ddl';
import { Tok, tokenAtOrAfter } from './lexer';
import type { Tree } from './parser';
import { walkPlpgsql } from './plpgsql';
import { privilege } from './privileges';
import { setVariable } from './session';
import { decodedSource, verbatimSource, type Source } from './source';
import { flag, has, list, nameFrom, number, options, strings, text, typed } from './tree';
import { occurrence, within, type Context, type Handler, type Walker } from './walker';

/** DO blocks and functions: statements that carry other statements as text. */
export const bodyHandlers: readonly (readonly [string, Handler])[] = [
  ['DoStmt', doBlock],
  ['CreateFunctionStmt', createFunction],
];

/** Languages whose code runs outside the server's checks, by themselves or by their name's closing u. */
const UNTRUSTED = new Set([
  'c',
  'internal',
  'plpythonu',
  'plpython2u',
  'plpython3u',
  'plperlu',
  'pltclu',
  'plsh',
  'plrustu',
  'pljavau',
  'plr',
]);

function doBlock(node: Tree, ctx: Context, walk: Walker): void {
  const args = options(node, 'args');
  const language =
    text(typed(args.find((o) => text(o, 'defname') === 'language')?.['arg'])?.node ?? {}, 'sval') || 'plpgsql';
  const as = args.find((o) => text(o, 'defname') === 'as');
  const body = text(typed(as?.['arg'])?.node ?? {}, 'sval');
  const inner = within(ctx, 'DO body', 'do_body');
  readBody(language, body, number(as ?? {}, 'location'), inner, ctx, walk);
}

function createFunction(node: Tree, ctx: Context, walk: Walker): void {
  const given = options(node);
  const name = nameFrom(strings(list(node, 'funcname')));
  const kind = flag(node, 'is_procedure') ? 'procedure' : 'function';
  created(ctx, kind, name, false, flag(node, 'replace'));
  if (given.some((o) => text(o, 'defname') === 'security' && typed(o['arg'])?.node['boolval'] === true)) {
    privilege(ctx, setsSearchPath(given) ? 'security_definer' : 'security_definer_no_search_path', name.name);
  }
  for (const option of given) {
    const set = typed(option['arg']);
    if (text(option, 'defname') === 'set' && set?.type === 'VariableSetStmt')
      setVariable(set.node, ctx, walk, 'function');
  }
  const inner = { ...within(ctx, `${kind} ${shown(name.name)} body`, 'function_body'), ctes: null };
  const language =
    text(typed(given.find((o) => text(o, 'defname') === 'language')?.['arg'])?.node ?? {}, 'sval') || 'sql';
  const as = given.find((o) => text(o, 'defname') === 'as');
  if (has(node, 'sql_body')) walk.visit(node['sql_body'], inner);
  const parts = typed(as?.['arg']);
  const body = parts?.type === 'List' ? strings(list(parts.node, 'items'))[0] : undefined;
  if (body !== undefined) readBody(language, body, number(as ?? {}, 'location'), inner, ctx, walk);
  // Argument defaults may call functions.
  walk.visit(node['parameters'], ctx);
}

function readBody(
  language: string,
  body: string,
  location: number | null,
  inner: Context,
  outer: Context,
  walk: Walker,
): void {
  const known = language.toLowerCase();
  const source = bodySource(body, location, outer);
  if (UNTRUSTED.has(known) || (known.startsWith('pl') && known.endsWith('u'))) {
    outer.facts.serverExecution.push({ what: 'language', subject: language, ...occurrence(outer) });
    return;
  }
  const read =
    known === 'plpgsql'
      ? walkPlpgsql(source, inner, outer, walk)
      : known === 'sql'
        ? body.trim() === '' || walk.nested(source, inner)
        : false;
  if (!read)
    outer.facts.dynamicSql.push({
      form: 'unread_body',
      constant: false,
      subject: language,
      ...occurrence(outer),
    } satisfies DynamicSqlFact);
}

/** The body as a source of its own, word for word where it stands so in the text (dollar quotes, plain quotes without escapes). */
function bodySource(body: string, location: number | null, ctx: Context): Source {
  const { tokens, bytes } = ctx.source;
  if (location !== null && location >= 0) {
    let i = tokenAtOrAfter(tokens, location);
    // The place is that of the option's word AS, or of the string itself.
    for (let k = 0; k < 2 && i < tokens.count && tokens.kinds[i] === Tok.Word; k++) i++;
    const kind = tokens.kinds[i];
    if (kind === Tok.Dollar || kind === Tok.String) {
      const start = tokens.starts[i] as number;
      const end = tokens.ends[i] as number;
      const open = kind === Tok.Dollar ? bytes.indexOf(36, start + 1) + 1 - start : bytes[start] === 39 ? 1 : 0;
      const length = new TextEncoder().encode(body).length;
      if (open > 0 && end - start === length + 2 * open) return verbatimSource(ctx.source, start + open, body);
      return decodedSource(body, ctx.source.span(start, end));
    }
  }
  return decodedSource(body, occurrence(ctx).span);
}
