import { occurrence, type Context, type Walker } from './walker';
import { missingDefaults } from './declared-defaults';
import { readText } from './dynamic';
import { Tok, punctuationOf, tokenAtOrAfter, wordOf } from './lexer';
import { parsePlpgsqlBody, parseStatements, type Tree } from './parser';
import { refuseUnparsable } from './parse-bounds';
import { decodedSource, verbatimSource, type Source } from './source';
import { has, nodeOf, number, text, typed, typedList } from './tree';

/** Bytes after the start of the reported line in which an expression is searched for. */
const WINDOW = 16 * 1024;

/**
 * Reads a PL/pgSQL body: each embedded statement and expression is parsed again as SQL. `outer` is the full DO or CREATE FUNCTION
 * statement, which the PL/pgSQL parser requires. Returns false if the body cannot be parsed; then nothing was recorded.
 */
export function walkPlpgsql(body: Source, inner: Context, outer: Context, walk: Walker): boolean {
  refuseUnparsable(body, true);
  const { bytes } = outer.source;
  walk.spend(body.tokens.count);
  const statement = new TextDecoder().decode(bytes.subarray(outer.start, outer.end));
  const parsed = parsePlpgsqlBody(statement);
  if (!parsed.ok || parsed.value.length === 0 || !parsed.value.every(hasBody)) return false;
  const lines = lineStarts(body.bytes);
  const reading = { body, lines, ctx: inner, walk, found: new Map<string, number>() };
  for (const { start, expression: query } of missingDefaults(parsed.value, body))
    expression({ query, parseMode: 2 }, reading, lines.findLastIndex((line) => line <= start) + 1);
  for (const item of parsed.value) visit(item, { ...reading, found: new Map() }, 1);
  return true;
}

/** The parser returns a function without a body if it does not recognize the language as PL/pgSQL. */
function hasBody(item: Tree): boolean {
  return has(nodeOf(item), 'action');
}

interface Reading {
  readonly body: Source;
  readonly lines: readonly number[];
  readonly ctx: Context;
  readonly walk: Walker;
  /** Offset at which the next search for a text continues, by line and text. */
  readonly found: Map<string, number>;
}

/** Members that contain SQL built at run time, by node type. */
const DYNAMIC: Readonly<Record<string, string>> = {
  PLpgSQL_stmt_dynexecute: 'query',
  PLpgSQL_stmt_dynfors: 'query',
  PLpgSQL_stmt_open: 'dynquery',
  PLpgSQL_stmt_return_query: 'dynquery',
};

function visit(value: unknown, reading: Reading, line: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) visit(item, reading, line);
    return;
  }
  const statement = typed(value);
  const node = statement?.node ?? (value as Tree);
  const here = number(node, 'lineno') ?? line;
  if (statement?.type === 'PLpgSQL_expr') return expression(node, reading, here);
  if (statement?.type === 'PLpgSQL_stmt_commit' || statement?.type === 'PLpgSQL_stmt_rollback') {
    const kind = statement.type === 'PLpgSQL_stmt_commit' ? 'commit' : 'rollback';
    reading.ctx.facts.transactionControl.push({
      kind,
      chain: node['chain'] === true,
      ...occurrence(at(reading, here, kind)),
    });
  }
  const dynamic = statement === null ? undefined : DYNAMIC[statement.type];
  for (const key of Object.keys(node)) {
    const query = key === dynamic ? typed(node[key]) : null;
    if (query?.type === 'PLpgSQL_expr') execute(text(query.node, 'query'), reading, here);
    else visit(node[key], reading, here);
  }
}

/** Parses one embedded statement or expression as SQL. */
function expression(node: Tree, reading: Reading, line: number): void {
  const query = text(node, 'query');
  const mode = number(node, 'parseMode') ?? 0;
  const { ctx, walk, body } = reading;
  const value = mode >= 3 ? assignedExpressions(query) : query;
  // An expression without a call, a subquery or a FROM (`x := name FROM t`) cannot change anything or read a table.
  if (mode >= 2 && !/\(|from/i.test(query)) return;
  const isPerform = mode === 0 && query.startsWith('SELECT ');
  const embedded = isPerform ? query.slice(7) : value;
  const place = locate(reading, line, embedded);
  // The prefix is not in the body, so the base offset is reduced by its length.
  const prefix = mode >= 2 || (isPerform && place !== null) ? 'SELECT ' : '';
  const sql = prefix + embedded;
  const source =
    place === null
      ? decodedSource(mode === 0 ? query : sql, occurrence(at(reading, line, '')).span)
      : verbatimSource(body, place - prefix.length, sql);
  if (!walk.nested(source, ctx))
    ctx.facts.dynamicSql.push({
      form: 'unread_expression',
      constant: false,
      subject: 'plpgsql',
      ...occurrence(at(reading, line, '')),
    });
}

/** EXECUTE, OPEN … FOR EXECUTE and RETURN QUERY EXECUTE. The SQL is parsed if its text is constant. */
function execute(query: string, reading: Reading, line: number): void {
  const { ctx, walk } = reading;
  const place = at(reading, line, 'execute');
  const source = decodedSource(`SELECT ${query}`, occurrence(place).span);
  walk.spend(source.tokens.count);
  refuseUnparsable(source);
  const parsed = parseStatements(source.text);
  const select = parsed.ok ? typed(parsed.value[0]?.stmt) : null;
  const target = select === null ? undefined : typedList(select.node, 'targetList')[0]?.node['val'];
  const argument = parsed.ok && parsed.value.length === 1 ? target : undefined;
  readText(argument, { form: 'plpgsql_execute', subject: '' }, ctx, walk, occurrence(place));
  // The expression that builds the SQL may call functions, and a constant one may have FROM and WHERE.
  if (parsed.ok) walk.visit(parsed.value[0]?.stmt, { ...place, source });
}

/** Expression to the right of `:=` or `=`. */
export function afterAssignment(query: string): string {
  return assignment(query)?.value ?? query;
}

/** The expressions that an assignment evaluates, as the list of a SELECT: its value, after the target if that has subscripts. */
export function assignedExpressions(query: string): string {
  const { target, value } = assignment(query) ?? { target: '', value: query };
  return target.includes('[') ? `${target}, ${value}` : value;
}

/** Both sides of `:=` or `=`. An operator inside the target's subscripts does not count. */
function assignment(query: string): { readonly target: string; readonly value: string } | null {
  const source = decodedSource(query, { startLine: 1, startColumn: 1, endLine: 1, endColumn: 1 });
  const { tokens, bytes } = source;
  const textOf = (start: number, end: number): string => new TextDecoder().decode(bytes.subarray(start, end));
  let depth = 0;
  for (let i = 0; i < tokens.count; i++) {
    const mark = punctuationOf(bytes, tokens, i);
    if (mark === '(' || mark === '[') depth++;
    else if (mark === ')' || mark === ']') depth--;
    else if (depth === 0 && tokens.kinds[i] === Tok.Operator) {
      const [start, end] = [tokens.starts[i] as number, tokens.ends[i] as number];
      if ([':=', '='].includes(textOf(start, end)))
        return { target: textOf(0, start), value: textOf(end, bytes.length).trimStart() };
    }
  }
  return null;
}

/** Context that starts at `word` in this line, or at the first token of the line, and ends before the next semicolon (at most 64 tokens). */
function at(reading: Reading, line: number, word: string): Context {
  const { body, lines, ctx, found } = reading;
  const start = lines[line - 1] ?? 0;
  const { tokens, bytes } = body;
  let first = tokenAtOrAfter(tokens, start);
  const lineEnd = lines[line] ?? bytes.length;
  if (word !== '') {
    const key = `${line} ${word}`;
    let i = found.get(key) ?? first;
    while (i < tokens.count && (tokens.starts[i] as number) < lineEnd && wordOf(bytes, tokens, i) !== word) i++;
    if (i < tokens.count && wordOf(bytes, tokens, i) === word) {
      first = i;
      found.set(key, i + 1);
    }
  }
  let last = first;
  while (last + 1 < tokens.count && punctuationOf(bytes, tokens, last + 1) !== ';' && last - first < 64) last++;
  if (first >= tokens.count) return { ...ctx, source: body, start: 0, end: bytes.length };
  return { ...ctx, source: body, start: tokens.starts[first] as number, end: tokens.ends[last] as number };
}

/**
 * Byte offset at which the body contains the embedded text verbatim, searched from its line on. Null if it is not found. A second call
 * with the same line and text finds the next occurrence.
 */
function locate(reading: Reading, line: number, query: string): number | null {
  const { body, lines, found } = reading;
  const key = `${line} = ${query}`;
  const from = found.get(key) ?? lines[line - 1] ?? 0;
  const haystack = Buffer.from(
    body.bytes.buffer,
    body.bytes.byteOffset + from,
    Math.min(body.bytes.length - from, WINDOW + query.length * 3),
  );
  const at = haystack.indexOf(query, 0, 'utf8');
  if (at === -1) return null;
  found.set(key, from + at + 1);
  return from + at;
}

function lineStarts(bytes: Uint8Array): readonly number[] {
  const starts = [0];
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 10) starts.push(i + 1);
  return starts;
}
