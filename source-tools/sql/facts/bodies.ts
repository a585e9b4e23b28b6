import { shown } from '../../../policy/text/shown-name';
import { recordFunctionRights } from './alter';
import { created } from './ddl';
import { Tok, tokenAtOrAfter } from './lexer';
import type { Tree } from './parser';
import { walkPlpgsql } from './plpgsql';
import { setVariable } from './session';
import { decodedSource, verbatimSource, type Source } from './source';
import { flag, has, list, nameAt, nodeOf, number, options, strings, text, typed } from './tree';
import { occurrence, within, type Context, type Handler, type Walker } from './walker';
import { wordList } from '../../../policy/text/word-list';

/** DO blocks and functions, which contain other statements as text. */
export const bodyHandlers: readonly (readonly [string, Handler])[] = [
  ['DoStmt', doBlock],
  ['CreateFunctionStmt', createFunction],
];

/** Untrusted languages: their code runs without the server's access checks. Any other `pl…u` counts as untrusted too. */
const UNTRUSTED = new Set(
  wordList('c internal plpythonu plpython2u plpython3u plperlu pltclu plsh plrustu pljavau plr'),
);

function doBlock(node: Tree, ctx: Context, walk: Walker): void {
  const args = options(node, 'args');
  const as = optionNamed(args, 'as');
  const inner = within(ctx, 'DO body', 'do_body');
  readBody(languageOf(args) || 'plpgsql', textOf(as), number(as, 'location'), inner, ctx, walk);
}

function createFunction(node: Tree, ctx: Context, walk: Walker): void {
  const settings = options(node);
  const name = nameAt(node, 'funcname');
  const kind = flag(node, 'is_procedure') ? 'procedure' : 'function';
  created(ctx, kind, name, false, flag(node, 'replace'));
  recordFunctionRights(settings, name, ctx);
  for (const option of settings) {
    const set = typed(option['arg']);
    if (text(option, 'defname') === 'set' && set?.type === 'VariableSetStmt') setVariable(set.node, ctx, 'function');
  }
  const inner = { ...within(ctx, `${kind} ${shown(name.name)} body`, 'function_body'), ctes: null };
  if (has(node, 'sql_body')) walk.visit(node['sql_body'], inner);
  const as = optionNamed(settings, 'as');
  const parts = typed(as['arg']);
  const body = parts?.type === 'List' ? strings(list(parts.node, 'items'))[0] : undefined;
  if (body !== undefined) readBody(languageOf(settings) || 'sql', body, number(as, 'location'), inner, ctx, walk);
  // Argument defaults may call functions.
  walk.visit(node['parameters'], ctx);
}

function optionNamed(all: readonly Tree[], name: string): Tree {
  return all.find((option) => text(option, 'defname') === name) ?? {};
}

function languageOf(all: readonly Tree[]): string {
  return textOf(optionNamed(all, 'language'));
}

/** The value of an option if it is a text, else ''. */
function textOf(option: Tree): string {
  return text(nodeOf(option['arg']), 'sval');
}

function readBody(
  language: string,
  body: string,
  location: number | null,
  inner: Context,
  outer: Context,
  walk: Walker,
): void {
  const name = language.toLowerCase();
  const source = bodySource(body, location, outer);
  if (UNTRUSTED.has(name) || (name.startsWith('pl') && name.endsWith('u'))) {
    outer.facts.serverExecution.push({ what: 'language', subject: language, ...occurrence(outer) });
    return;
  }
  // A quoted name is the name of another language if its case differs.
  const read =
    language === 'plpgsql'
      ? walkPlpgsql(source, inner, outer, walk)
      : language === 'sql'
        ? body.trim() === '' || walk.nested(source, inner)
        : false;
  if (!read)
    outer.facts.dynamicSql.push({ form: 'unread_body', constant: false, subject: language, ...occurrence(outer) });
}

/** Source of the body. It is verbatim if the text contains it unchanged (dollar quotes, or plain quotes without escapes), else decoded. */
function bodySource(body: string, location: number | null, ctx: Context): Source {
  const { tokens, bytes } = ctx.source;
  if (location !== null && location >= 0) {
    let i = tokenAtOrAfter(tokens, location);
    // `location` is that of the keyword AS or of the string itself.
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
