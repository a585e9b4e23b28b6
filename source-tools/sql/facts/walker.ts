import { memoizeByObject } from '../../../policy/text/memoize';
import { shown } from '../../../policy/text/shown-name';
import type { Span } from '../../../policy/contracts/facts';
import {
  SQL_FACTS,
  type Container,
  type Occurrence,
  type PrivilegeFact,
  type RelationFact,
  type SqlFacts,
  type SqlName,
} from './sql-facts';
import { wordOf, tokenAtOrAfter } from './lexer';
import type { Tree } from './parser';
import { isListed } from './safe-functions';
import { tokenEnd, type Source } from './source';
import { number, rangeName, text, typed, typedList } from './tree';

type Lists = Omit<SqlFacts, 'ok' | 'kind' | 'parser' | 'statements'>;
/** The mutable fact lists during extraction. */
export type Collected = { -readonly [K in keyof Lists]: Lists[K][number][] };

const LISTS = Object.keys(SQL_FACTS).filter((name) => name !== 'statements');

export function emptyFacts(): Collected {
  return Object.fromEntries(LISTS.map((name) => [name, []])) as unknown as Collected;
}

/** Position of the walk. Copied for each level, never mutated. */
export interface Context {
  readonly source: Source;
  readonly statement: number;
  /** Byte range in `source` of the statement being walked. */
  readonly start: number;
  readonly end: number;
  readonly path: readonly string[];
  readonly via: readonly Container[];
  /** CTE names visible to a FROM clause here. */
  readonly ctes: CteScope | null;
  /** True below EXPLAIN without ANALYZE, which does not run its query. Then `facts` is discarded, except for `relations`. */
  readonly inert: boolean;
  readonly facts: Collected;
  /** Nesting depth of SQL inside strings. */
  readonly depth: number;
  /** Names of the statements prepared earlier in this text. */
  readonly prepared: ReadonlySet<string>;
}

export type Handler = (node: Tree, ctx: Context, walk: Walker) => void;

export interface Walker {
  readonly visit: (value: unknown, ctx: Context, key?: string) => void;
  readonly children: (node: Tree, ctx: Context, except?: readonly string[]) => void;
  /** Parses SQL found in a string and walks it. Returns false if it is not valid SQL. Throws a refusal if a bound is exceeded. */
  readonly nested: (source: Source, ctx: Context) => boolean;
  /** Counts one nested parse of `tokens` tokens. Throws a refusal if a bound is exceeded. */
  readonly spend: (tokens: number) => void;
}

/** Node types of members that contain a node without a type wrapper. */
const INLINE_TYPES: Readonly<Record<string, string>> = {
  larg: 'SelectStmt',
  rarg: 'SelectStmt',
  funccall: 'FuncCall',
  withClause: 'WithClause',
  intoClause: 'IntoClause',
  onConflictClause: 'OnConflictClause',
};

export function createWalker(
  handlers: ReadonlyMap<string, Handler>,
  bounds: Pick<Walker, 'nested' | 'spend'> & { readonly check: () => void },
): Walker {
  let visited = 0;
  const visitTyped = (type: string, node: Tree, ctx: Context): void => {
    if (++visited % 1000 === 0) bounds.check();
    const handler = handlers.get(type);
    if (handler === undefined) walker.children(node, ctx);
    else handler(node, ctx, walker);
  };
  const walker: Walker = {
    nested: bounds.nested,
    spend: bounds.spend,
    visit: (value, ctx, key = '') => {
      if (typeof value !== 'object' || value === null) return;
      if (Array.isArray(value)) {
        for (const item of value) walker.visit(item, ctx);
        return;
      }
      const node = typed(value);
      if (node !== null) return visitTyped(node.type, node.node, ctx);
      const inline = INLINE_TYPES[key];
      if (inline !== undefined) return visitTyped(inline, value as Tree, ctx);
      // A RangeVar appears without a wrapper under many member names; only a RangeVar has these two members.
      if (typeof (value as Tree)['relname'] === 'string' && (value as Tree)['relpersistence'] !== undefined)
        return visitTyped('RangeVar', value as Tree, ctx);
      walker.children(value as Tree, ctx);
    },
    children: (node, ctx, except = []) => {
      const scoped = withCtes(node, ctx, walker, except);
      for (const key of Object.keys(node)) {
        if (key === 'withClause' || except.includes(key)) continue;
        const value = node[key];
        if (typeof value === 'object') walker.visit(value, scoped, key);
      }
    },
  };
  return walker;
}

/** CTE names visible to a FROM clause: the first `count` names of each enclosing WITH clause. */
interface CteScope {
  readonly order: ReadonlyMap<string, number>;
  readonly count: number;
  readonly outer: CteScope | null;
}

export function seesCte(scope: CteScope | null, name: string): boolean {
  for (let s = scope; s !== null; s = s.outer) {
    const index = s.order.get(name);
    if (index !== undefined && index < s.count) return true;
  }
  return false;
}

/**
 * Visits a WITH clause and returns the context for the rest of its statement. Without RECURSIVE a CTE sees only earlier CTEs, so
 * `WITH t AS (SELECT * FROM t)` reads the table t.
 */
function withCtes(node: Tree, ctx: Context, walk: Walker, except: readonly string[]): Context {
  const clause = node['withClause'];
  if (typeof clause !== 'object' || clause === null || except.includes('withClause')) return ctx;
  const ctes = typedList(clause as Tree, 'ctes').filter((c) => c.type === 'CommonTableExpr');
  const order = new Map<string, number>();
  // PostgreSQL rejects a duplicate CTE name, so only the first one counts.
  ctes.forEach((c, i) => {
    const name = text(c.node, 'ctename');
    if (!order.has(name)) order.set(name, i);
  });
  const recursive = (clause as Tree)['recursive'] === true;
  ctes.forEach((cte, i) => {
    const scope: CteScope = { order, count: recursive ? ctes.length : i, outer: ctx.ctes };
    walk.children(cte.node, { ...within(ctx, `CTE ${shown(text(cte.node, 'ctename'))}`, 'cte'), ctes: scope });
  });
  return { ...ctx, ctes: { order, count: ctes.length, outer: ctx.ctes } };
}

/** Maximum number of calls recorded for one function, as many as a finding shows. A bulk INSERT can have thousands. */
const MAX_CALLS_KEPT = 50;

/** Records a function that is called, or referenced so that the server calls it later. */
export function functionCall(ctx: Context, name: SqlName, argCount: number, at: () => Occurrence): void {
  const key = `${name.schema ?? ''}.${name.name}`;
  const earlier = earlierCalls(ctx.facts);
  const { count, statement } = earlier.get(key) ?? { count: 0, statement: -1 };
  earlier.set(key, { count: count + 1, statement: ctx.statement });
  // Of a function that is not listed, the first call of each statement, because rules decide about each statement.
  if (count < MAX_CALLS_KEPT || (statement !== ctx.statement && !isListed(name)))
    ctx.facts.functionCalls.push({ function: name, argCount, ...at() });
}

/** Number of calls of each function and the statement of the last, per fact list: calls below a plain EXPLAIN do not use up the limit of calls that run. */
const earlierCalls = memoizeByObject(
  (_facts: Collected) => new Map<string, { readonly count: number; readonly statement: number }>(),
);

/** Context one level deeper. */
export function within(ctx: Context, step: string, container: Container): Context {
  return { ...ctx, path: [...ctx.path, step], via: [...ctx.via, container] };
}

/**
 * Position of a fact: the token at `location` if the parser gives one, else the full statement. Spread it last into a fact: an
 * object literal that starts with a spread and then adds members is about 30 times slower in Node 20.
 */
export function occurrence(ctx: Context, location?: number | null, end?: number): Occurrence {
  const known = typeof location === 'number' && location >= 0;
  const span: Span = known
    ? ctx.source.span(location, end ?? tokenEnd(ctx.source, location))
    : ctx.source.span(ctx.start, ctx.end);
  return { statement: ctx.statement, span, path: shortPath(ctx.path), via: ctx.via };
}

/** Path as text. Only the outermost and innermost steps are kept, because a text may nest a thousand levels. */
function shortPath(path: readonly string[]): string {
  if (path.length === 1) return path[0] as string;
  return (path.length <= 8 ? path : [...path.slice(0, 2), '…', ...path.slice(-5)]).join(' › ');
}

/** Like `occurrence`, but starts at the verb before the table (`DELETE FROM t`) if it is at most six tokens before. */
export function occurrenceFromVerb(ctx: Context, verb: string, range: Tree): Occurrence {
  const { tokens, bytes } = ctx.source;
  const location = number(range, 'location');
  if (location === null || location < 0) return occurrence(ctx);
  const end = nameEnd(ctx, location);
  const at = tokenAtOrAfter(tokens, location);
  for (let i = at - 1; i >= 0 && i >= at - 6; i--) {
    if (wordOf(bytes, tokens, i) === verb) return occurrence(ctx, tokens.starts[i] as number, end);
  }
  return occurrence(ctx, location, end);
}

/** Position of the name, which may be qualified, at the node's location. Without a location, the full statement. */
export function occurrenceOfName(ctx: Context, node: Tree): Occurrence {
  const location = number(node, 'location');
  return location === null || location < 0 ? occurrence(ctx) : occurrence(ctx, location, nameEnd(ctx, location));
}

function nameEnd(ctx: Context, location: number): number {
  const { tokens, bytes } = ctx.source;
  let i = tokenAtOrAfter(tokens, location);
  while (i + 2 < tokens.count && bytes[tokens.starts[i + 1] as number] === 46) i += 2;
  return i < tokens.count ? (tokens.ends[i] as number) : location;
}

export function privilege(ctx: Context, what: PrivilegeFact['what'], subject = '', at = occurrence(ctx)): void {
  ctx.facts.privileges.push({ what, subject, ...at });
}

/** Records a relation that the text references, and returns its name. */
export function relation(ctx: Context, range: Tree, access: RelationFact['access']): SqlName {
  const name = rangeName(range);
  ctx.facts.relations.push({ relation: name, access: ctx.inert ? 'read' : access, ...occurrenceOfName(ctx, range) });
  return name;
}
