import { createHash } from 'node:crypto';
import type { FactsRefusal } from '../../../policy/contracts/facts';
import { SQL_PARSER } from './sql-parser';
import type { SqlFacts, SqlStatement } from './sql-facts';
import { alterHandlers } from './alter';
import { bodyHandlers } from './bodies';
import { commandOf, hasReturning, isReadCommand } from './commands';
import { ddlHandlers } from './ddl';
import { dropHandlers } from './drop';
import { dmlHandlers } from './dml';
import { dynamicHandlers } from './dynamic';
import { functionHandlers } from './functions';
import { longIdentifiers } from './long-identifiers';
import { punctuationOf, tokenAtOrAfter } from './lexer';
import { refuseUnparsable } from './parse-bounds';
import { MAX_TOKENS } from './scan-cost';
import { loadParser, parseStatements, type RawStatement } from './parser';
import { privilegeHandlers } from './privileges';
import { isModelled, unmodelledParts } from './rehearsable';
import { refusal, refuse, Refused } from '../../../policy/text/refusal';
import { decodeUtf8 } from '../../../policy/text/utf8';
import { serverHandlers } from './server';
import { sessionHandlers } from './session';
import { rootSource, type Source } from './source';
import { text, typed } from './tree';
import { createWalker, emptyFacts, occurrence, type Collected, type Context, type Walker } from './walker';

/** Bounds of one text. A text that exceeds one of them is refused, which a rule reports as a finding; it never passes. */
export const MAX_SQL_BYTES = 1024 * 1024;
export const MAX_SQL_STATEMENTS = 1000;
/** Total number of statements and expressions inside strings (function bodies, EXECUTE) that are parsed again. */
export const MAX_NESTED_PARSES = 1500;
/** Nesting depth of SQL inside SQL strings. */
const MAX_STRING_DEPTH = 8;
/** Total number of entries in all fact lists. */
const MAX_FACTS = 10_000;

const HANDLERS = new Map([
  ...dmlHandlers,
  ...ddlHandlers,
  ...dropHandlers,
  ...alterHandlers,
  ...sessionHandlers,
  ...privilegeHandlers,
  ...serverHandlers,
  ...functionHandlers,
  ...bodyHandlers,
  ...dynamicHandlers,
]);

/**
 * Extracts the facts of PostgreSQL text (UTF-8), or returns a refusal. Deterministic: the same bytes give the same facts on any
 * host. Never throws because of the text; rejects only if the parser's module cannot be loaded.
 */
export async function extractSqlFacts(raw: Uint8Array): Promise<SqlFacts | FactsRefusal> {
  await loadParser();
  try {
    return extract(raw);
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    // A stack overflow or a failure inside the parser. Its message differs between hosts, so a fixed one is returned.
    return refusal('parser_failed', 'The text could not be analyzed', null);
  }
}

function extract(raw: Uint8Array): SqlFacts | FactsRefusal {
  const source = decode(raw);
  refuseUnparsable(source);
  const parsed = parseStatements(source.text);
  if (!parsed.ok) {
    const span = parsed.offset === null ? null : source.span(parsed.offset, tokenEndAt(source, parsed.offset));
    return refusal(parsed.kind === 'failed' ? 'parser_failed' : 'syntax_error', withoutQuotes(parsed.message), span);
  }
  const statements = parsed.value;
  if (statements.length === 0) return refusal('empty', 'The text contains no statement', null);
  if (statements.length > MAX_SQL_STATEMENTS)
    return refusal('too_many_statements', `The text contains more than ${MAX_SQL_STATEMENTS} statements`, null);
  const facts = emptyFacts();
  const ranges = statements.map((statement) => rangeOf(source, statement));
  longIdentifiers(source, ranges, facts);
  const prepared = new Set<string>();
  const bounds = createBounds(facts);
  const walk = createBoundedWalker(bounds);
  const described = ranges.map(({ start, end }, index) => {
    const { stmt } = statements[index] as RawStatement;
    const before = writes(facts);
    const ctx: Context = {
      source,
      statement: index,
      start,
      end,
      path: [`statement ${index + 1}`],
      via: [],
      ctes: null,
      inert: false,
      facts,
      depth: 0,
      prepared,
    };
    walk.visit(stmt, ctx);
    if (isModelled(stmt))
      for (const reason of unmodelledParts(stmt)) facts.unmodelled.push({ reason, ...occurrence(ctx) });
    bounds.check();
    const prepare = typed(stmt);
    if (prepare?.type === 'PrepareStmt') prepared.add(text(prepare.node, 'name'));
    return {
      index,
      start,
      end,
      span: source.span(start, end),
      command: commandOf(stmt),
      sha: createHash('sha256').update(source.bytes.subarray(start, end)).digest('hex'),
      hasReturning: hasReturning(stmt),
      readOnly: isReadCommand(stmt) && writes(facts) === before,
    } satisfies SqlStatement;
  });
  return { ok: true, kind: 'sql', parser: SQL_PARSER, statements: described, ...facts };
}

function decode(raw: Uint8Array): Source {
  if (raw.length === 0) refuse('empty', 'The text is empty', null);
  if (raw.length > MAX_SQL_BYTES) refuse('too_large', `The text is larger than ${MAX_SQL_BYTES} bytes`, null);
  const decoded = decodeUtf8(raw) ?? refuse('invalid_utf8', 'The text is not valid UTF-8', null);
  const source = rootSource(raw, decoded);
  // The parser reads a C string, so it would ignore everything after a NUL byte.
  const nul = raw.indexOf(0);
  if (nul !== -1) refuse('nul_byte', 'The text contains a NUL byte', source.span(nul, nul + 1));
  if (decoded.charCodeAt(0) === 0xfeff)
    refuse('byte_order_mark', 'The text starts with a byte order mark', source.span(0, 3));
  return source;
}

interface Bounds {
  /** Counts one nested parse of `tokens` tokens. */
  readonly spend: (tokens: number) => void;
  /** Checks the number of facts. */
  readonly check: () => void;
}

function createBounds(facts: Collected): Bounds {
  let parses = 0;
  let nestedTokens = 0;
  const lists = Object.values(facts) as readonly unknown[][];
  return {
    spend: (tokens) => {
      nestedTokens += tokens;
      if (nestedTokens > MAX_TOKENS)
        refuse('too_many_tokens', `The SQL inside strings contains more than ${MAX_TOKENS} tokens`, null);
      if (++parses > MAX_NESTED_PARSES)
        refuse(
          'too_many_statements',
          `The text contains more than ${MAX_NESTED_PARSES} statements inside strings`,
          null,
        );
    },
    check: () => {
      if (lists.reduce((sum, l) => sum + l.length, 0) > MAX_FACTS)
        refuse('too_many_facts', `The text produces more than ${MAX_FACTS} facts`, null);
    },
  };
}

function createBoundedWalker({ spend, check }: Bounds): Walker {
  const nested: Walker['nested'] = (source, ctx) => {
    if (ctx.depth >= MAX_STRING_DEPTH)
      refuse(
        'too_deep',
        `SQL is nested in more than ${MAX_STRING_DEPTH} levels of strings`,
        ctx.source.span(ctx.start, ctx.end),
      );
    spend(source.tokens.count);
    refuseUnparsable(source);
    const parsed = parseStatements(source.text);
    if (!parsed.ok) return false;
    for (const statement of parsed.value)
      walker.visit(statement.stmt, { ...ctx, ...rangeOf(source, statement), source, depth: ctx.depth + 1 });
    check();
    return true;
  };
  const walker = createWalker(HANDLERS, { nested, spend, check });
  return walker;
}

/** Byte range of a statement without the surrounding whitespace, comments and semicolons. */
function rangeOf(source: Source, statement: RawStatement): { readonly start: number; readonly end: number } {
  const { tokens, bytes } = source;
  const first = tokenAtOrAfter(tokens, statement.location);
  const after = statement.length === null ? bytes.length : statement.location + statement.length;
  let last = tokenAtOrAfter(tokens, after) - 1;
  while (last > first && punctuationOf(bytes, tokens, last) === ';') last--;
  return { start: tokens.starts[first] ?? statement.location, end: tokens.ends[last] ?? after };
}

function tokenEndAt(source: Source, offset: number): number {
  const index = tokenAtOrAfter(source.tokens, offset);
  return source.tokens.starts[index] === offset
    ? (source.tokens.ends[index] as number)
    : Math.min(offset + 1, source.bytes.length);
}

/** Lists whose entries do not indicate a write. */
const DESCRIPTIVE = new Set<keyof Collected>([
  'relations',
  'functionCalls',
  'longIdentifiers',
  'selects',
  'wildcards',
  'unmodelled',
]);

function writes(facts: Collected): number {
  let sum = 0;
  for (const key of Object.keys(facts) as (keyof Collected)[]) if (!DESCRIPTIVE.has(key)) sum += facts[key].length;
  return sum;
}

/** Removes the quoted token from a parser message: it may be a secret, and the span already gives its position. */
function withoutQuotes(message: string): string {
  const quote = message.indexOf('"');
  const plain = quote === -1 ? message : message.slice(0, quote);
  return plain.replace(/\s+(at or near|at)\s*$/, '').slice(0, 200) || 'syntax error';
}
