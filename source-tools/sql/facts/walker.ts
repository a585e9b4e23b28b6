import { shown } from '../../../policy/text/shown-name';
import type { Span } from '../../../policy/contracts/facts';
import type { Container, Occurrence, RelationFact, SqlFacts, SqlName } from './sql-facts';
import { wordOf, tokenAtOrAfter } from './lexer';
import type { Tree } from './parser';
import { tokenEnd, type Source } from './source';
import { rangeName, text, typed, typedList } from './tree';

type Lists = Omit<SqlFacts, 'ok' | 'kind' | 'parser' | 'statements'>;
/** The facts while they are collected. */
export type Collected = { -readonly [K in keyof Lists]: Lists[K][number][] };

export function emptyFacts(): Collected {
  return {
    dml: [],
    relations: [],
    drops: [],
    truncates: [],
    cascades: [],
    alters: [],
    tables: [],
    columns: [],
    constraints: [],
    indexes: [],
    transactionControl: [],
    settings: [],
    functionCalls: [],
    dynamicSql: [],
    serverExecution: [],
    privileges: [],
    hiddenWrites: [],
    locks: [],
    maintenance: [],
    longIdentifiers: [],
    creations: [],
    selects: [],
    wildcards: [],
    comments: [],
  };
}

/** Where the walk stands. Copied on the way down, never changed. */
export interface Context {
  readonly source: Source;
  readonly statement: number;
  /** Bytes of the statement in `source` that the walk is in. */
  readonly start: number;
  readonly end: number;
  readonly path: readonly string[];
  readonly via: readonly Container[];
  /** CTE names that a FROM clause can see here. */
  readonly ctes: CteScope | null;
  /** Below EXPLAIN without ANALYZE: parsed, never run. `facts` is then a sink, but for the relations that it names. */
  readonly inert: boolean;
  readonly facts: Collected;
  /** How many strings of SQL deep. */
  readonly depth: number;
  /** Names that PREPARE gave earlier in this text. */
  readonly prepared: ReadonlySet<string>;
}

export type Handler = (node: Tree, ctx: Context, walk: Walker) => void;

export interface Walker {
  readonly visit: (value: unknown, ctx: Context, key?: string) => void;
  readonly children: (node: Tree, ctx: Context, except?: readonly string[]) => void;
  /** Parses SQL that stood in a string, and walks it. False where it is not SQL. Throws a refusal past a bound. */
  readonly nested: (source: Source, ctx: Context) => boolean;
  /** Counts one more parse of something nested, of that many tokens; throws a refusal past the bounds. */
  readonly spend: (tokens: number) => void;
}

/** Members that hold a node without saying its type. */
const INLINE: Readonly<Record<string, string>> = {
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
      const inline = INLINE[key];
      if (inline !== undefined) return visitTyped(inline, value as Tree, ctx);
      // A RangeVar is inline under a dozen names; only it has this member.
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

/** The CTE names that a FROM clause can see: those of the WITH clauses around it, of each only the first `count`. */
export interface CteScope {
  readonly order: ReadonlyMap<string, number>;
  readonly count: number;
  readonly outer: CteScope | null;
}

export function seesCte(scope: CteScope | null, name: string): boolean {
  for (let s = scope; s !== null; s = s.outer) {
    const place = s.order.get(name);
    if (place !== undefined && place < s.count) return true;
  }
  return false;
}

/**
 * Visits a WITH clause and returns the scope for the rest of its statement. Without RECURSIVE a CTE sees only the ones before it,
 * so `WITH t AS (SELECT * FROM t)` still reads the table t.
 */
function withCtes(node: Tree, ctx: Context, walk: Walker, except: readonly string[]): Context {
  const clause = node['withClause'];
  if (typeof clause !== 'object' || clause === null || except.includes('withClause')) return ctx;
  const ctes = typedList(clause as Tree, 'ctes').filter((c) => c.type === 'CommonTableExpr');
  const order = new Map<string, number>();
  // The first of two equal names: PostgreSQL refuses the second, and until then it hides nothing more.
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

/** Places kept of one function: as many as a finding shows. A bulk INSERT has thousands, which say nothing new. */
const MAX_CALLS_KEPT = 50;

/** Records a function that is called, or named to be called later. */
export function functionCall(ctx: Context, name: SqlName, argCount: number, at: () => Occurrence): void {
  const key = `${name.schema ?? ''}.${name.name}`;
  // Counted per list of facts: calls that are only planned must not use up the places of those that run.
  const counts = callCounts.get(ctx.facts) ?? new Map<string, number>();
  callCounts.set(ctx.facts, counts);
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  if (count <= MAX_CALLS_KEPT) ctx.facts.functionCalls.push({ function: name, argCount, ...at() });
}

const callCounts = new WeakMap<Collected, Map<string, number>>();

/** The context one step further in. */
export function within(ctx: Context, step: string, container: Container): Context {
  return { ...ctx, path: [...ctx.path, step], via: [...ctx.via, container] };
}

/**
 * Where a fact stands: at `location` where the parser names one, else the whole statement that it is in. Facts spread it last:
 * an object literal that begins with a spread and then adds members costs thirty times as much in the engine of Node 20.
 */
export function occurrence(ctx: Context, location?: number | null, end?: number): Occurrence {
  const known = typeof location === 'number' && location >= 0;
  const span: Span = known
    ? ctx.source.span(location, end ?? tokenEnd(ctx.source, location))
    : ctx.source.span(ctx.start, ctx.end);
  return { statement: ctx.statement, span, path: shortPath(ctx.path), via: ctx.via };
}

/** The outermost and innermost steps; a text may nest a thousand deep. */
function shortPath(path: readonly string[]): string {
  if (path.length === 1) return path[0] as string;
  return (path.length <= 8 ? path : [...path.slice(0, 2), '…', ...path.slice(-5)]).join(' › ');
}

/** Like `occurrence`, but begins at the verb before the place (`DELETE FROM t`), where it is near. */
export function occurrenceFromVerb(ctx: Context, verb: string, range: Tree): Occurrence {
  const { tokens, bytes } = ctx.source;
  const location = range['location'];
  if (typeof location !== 'number' || location < 0) return occurrence(ctx);
  const end = nameEnd(ctx, location);
  const at = tokenAtOrAfter(tokens, location);
  for (let i = at - 1; i >= 0 && i >= at - 6; i--) {
    if (wordOf(bytes, tokens, i) === verb) return occurrence(ctx, tokens.starts[i] as number, end);
  }
  return occurrence(ctx, location, end);
}

/** End of a name that may be qualified. */
export function nameEnd(ctx: Context, location: number): number {
  const { tokens, bytes } = ctx.source;
  let i = tokenAtOrAfter(tokens, location);
  while (i + 2 < tokens.count && bytes[tokens.starts[i + 1] as number] === 46) i += 2;
  return i < tokens.count ? (tokens.ends[i] as number) : location;
}

/** Records a table that the text names, and returns its name. */
export function relation(ctx: Context, range: Tree, access: RelationFact['access']): SqlName {
  const name = rangeName(range);
  const location = range['location'];
  const at =
    typeof location === 'number' && location >= 0 ? occurrence(ctx, location, nameEnd(ctx, location)) : occurrence(ctx);
  ctx.facts.relations.push({ relation: name, access: ctx.inert ? 'read' : access, ...at });
  return name;
}
