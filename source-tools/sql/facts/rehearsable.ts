/**
 * What one parsed statement executes: functions, operators and relations, and whether its form may be rehearsed. Pure.
 *
 * An allowlist (modelled-nodes.ts): a statement with a node, member or value that is not listed must not be rehearsed. Names are as
 * written; the catalog decides what they mean (staging/inspect-catalog.ts).
 */
import { shown } from '../../../policy/text/shown-name';
import type { Assigned } from './assigned';
import { MODELLED_NODES, SAFE_OPERATORS } from './modelled-nodes';
import { locksRepeatedly } from './repeated-locks';
import { isRandomUuid, MOVING_CLOCKS, PADDING_FUNCTIONS, SET_FUNCTIONS } from './safe-functions';
import type { SqlName } from './sql-facts';
import type { Tree } from './parser';
import { child, list, nameAt, number, rangeName, strings, text, typed } from './tree';
import { readWrite, type Write } from './writes';

export interface Executed {
  /** Why the statement must not be rehearsed. Empty if its form is allowed. */
  readonly reasons: readonly string[];
  readonly calls: readonly SqlName[];
  readonly operators: readonly SqlName[];
  readonly relations: readonly SqlName[];
  /** Names after a dot, such as `f` in `(row).f`, which call a function if the row has no such column. */
  readonly members: readonly string[];
  readonly writes: readonly Write[];
  /** Clocks that move within the transaction, unless they are the whole value of a column. */
  readonly moving: readonly string[];
  /** In the body of a trigger: columns of the new row that it assigns. `name` is null for each column. */
  readonly assigns: readonly { readonly name: string | null; readonly assigned: Assigned }[];
}

interface Found {
  readonly reasons: Set<string>;
  readonly calls: SqlName[];
  readonly operators: SqlName[];
  readonly relations: SqlName[];
  readonly members: Set<string>;
  readonly writes: Write[];
  readonly moving: Set<string>;
  /** Calls of clocks that are the whole value of a column, and of random UUIDs that are one of a new row. */
  readonly values: Set<unknown>;
  /** Sum of the limits of all SELECTs with row locks. */
  readonly locked: { rows: number };
}

const STATEMENTS: Readonly<Record<string, string>> = {
  SelectStmt: 'SELECT',
  InsertStmt: 'INSERT',
  UpdateStmt: 'UPDATE',
  DeleteStmt: 'DELETE',
  MergeStmt: 'MERGE',
};

/** Reasons by node type, or by type and member. Without an entry the reason names the part of the grammar. */
const REASONS: Readonly<Record<string, (value: unknown) => string>> = {
  'SelectStmt.intoClause': () => 'SELECT INTO creates a table',
  RangeTableSample: () => 'TABLESAMPLE reads random rows',
  'LockingClause.waitPolicy': () =>
    'FOR UPDATE, FOR SHARE and similar clauses wait for locks, unless they have SKIP LOCKED',
  'SQLValueFunction.op': (op) => `${String(op).replace('SVFOP_', '')} reads who runs the statement`,
  'RangeVar.relpersistence': () => 'only permanent tables are known',
  'InsertStmt.override': () => 'OVERRIDING replaces the value of an identity column',
  'MergeWhenClause.override': () => 'OVERRIDING replaces the value of an identity column',
};

/** `place` is how reasons name the statement, for example `statement 2 (UPDATE)`. */
export function executedBy(stmt: Tree, place: string): Executed {
  const found = examine(stmt);
  return {
    ...found,
    reasons: [...found.reasons].map((reason) => `${place}: ${reason}`),
    members: [...found.members],
    moving: [...found.moving],
    assigns: [],
  };
}

/** Why a SELECT, INSERT, UPDATE, DELETE or MERGE has a part whose effects are not known. Its functions are not considered. */
export function unmodelledParts(stmt: Tree): readonly string[] {
  const { reasons, operators } = examine(stmt);
  for (const { schema, name } of operators)
    if ((schema !== null && schema !== 'pg_catalog') || !SAFE_OPERATORS.has(name))
      reasons.add(`the operator ${shown(name)} is not one of PostgreSQL`);
  return [...reasons];
}

/** True for a statement whose grammar is modelled. */
export function isModelled(stmt: Tree): boolean {
  return (typed(stmt)?.type ?? '') in STATEMENTS;
}

function examine(stmt: Tree): Found {
  const found: Found = {
    reasons: new Set(),
    calls: [],
    operators: [],
    relations: [],
    members: new Set(),
    writes: [],
    moving: new Set(),
    values: new Set(),
    locked: { rows: 0 },
  };
  const statement = typed(stmt);
  if (statement === null || !(statement.type in STATEMENTS))
    found.reasons.add('only SELECT, INSERT, UPDATE, DELETE and MERGE are rehearsed');
  else visitNode(statement.type, statement.node, found);
  if (locksRepeatedly(stmt)) found.reasons.add('row locks in a subquery that may run once for each row');
  if (found.locked.rows > MAX_LOCKED) found.reasons.add(`row locks of more than ${MAX_LOCKED} rows in all`);
  return found;
}

/** `type`: the node type of an inline member, whose tree has no type name. */
function visit(value: unknown, found: Found, place: string, type?: string): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, found, place);
    return;
  }
  if (typeof value === 'object' && value !== null) {
    if (type !== undefined) return visitNode(type, value as Tree, found);
    const node = typed(value);
    if (node !== null) return visitNode(node.type, node.node, found);
    if (Object.keys(value).length === 0) return; // an empty list item
  }
  found.reasons.add(`${place} is not a known part of a statement`);
}

function visitNode(type: string, node: Tree, found: Found): void {
  const members = MODELLED_NODES.get(type);
  if (members === undefined) {
    found.reasons.add(REASONS[type]?.(null) ?? `${type} is not a known part of a statement`);
    return;
  }
  note(type, node, found);
  // The names after FOR UPDATE OF are aliases of the same statement.
  if (type === 'LockingClause') node = { ...node, lockedRels: [] };
  for (const [name, value] of Object.entries(node)) {
    const place = `${type}.${name}`;
    const member = members.get(name);
    switch (member?.kind) {
      case undefined:
        found.reasons.add(REASONS[place]?.(value) ?? `${place} is not a known part of a statement`);
        break;
      case 'nodes':
        visit(value, found, place);
        break;
      case 'inline':
        visit(value, found, place, member.type);
        break;
      case 'value':
        if (typeof value === 'object') found.reasons.add(`${place} is not a known part of a statement`);
        break;
      case 'choice':
        if (typeof value !== 'string' || !member.values.has(value))
          found.reasons.add(REASONS[place]?.(value) ?? `${place} has the value ${String(value)}, which is not known`);
        break;
      default:
        member satisfies never;
    }
  }
}

function note(type: string, node: Tree, found: Found): void {
  switch (type) {
    case 'FuncCall':
      return noteCall(node, found);
    case 'A_Expr':
      // BETWEEN is named by the grammar. The catalog is always asked for the operators that it implies.
      if (!text(node, 'kind').includes('BETWEEN')) found.operators.push(nameAt(node, 'name'));
      return;
    case 'SubLink':
    case 'SortBy':
      for (const key of ['operName', 'useOp']) if (list(node, key).length > 0) found.operators.push(nameAt(node, key));
      return;
    case 'RangeVar':
      found.relations.push(rangeName(node));
      return;
    case 'ColumnRef':
      for (const name of strings(list(node, 'fields')).slice(1)) found.members.add(name);
      return;
    case 'A_Indirection':
      for (const name of strings(list(node, 'indirection'))) found.members.add(name);
      return;
    case 'SelectStmt': {
      if (node['lockingClause'] === undefined) return;
      const limit = constantLimit(node);
      if (limit === null || limit > MAX_LOCKED) found.reasons.add(`row locks need a LIMIT of at most ${MAX_LOCKED}`);
      else found.locked.rows += limit;
      return;
    }
    case 'InsertStmt':
    case 'UpdateStmt':
    case 'DeleteStmt':
    case 'MergeStmt':
      return noteWrite(STATEMENTS[type] as Write['command'], node, found);
    default:
      return;
  }
}

/** Rows that a SELECT with FOR UPDATE SKIP LOCKED may lock. */
const MAX_LOCKED = 1000;

/** LIMIT with a number and without OFFSET, else null: rows that OFFSET skips are read and locked too (PostgreSQL docs, SELECT, OFFSET). */
export function constantLimit(select: Tree): number | null {
  const limit = typed(select['limitCount']);
  if (select['limitOffset'] !== undefined) return null;
  if (limit?.type !== 'A_Const' || limit.node['ival'] === undefined) return null;
  return select['limitOption'] === 'LIMIT_OPTION_WITH_TIES' ? null : (number(child(limit.node, 'ival'), 'ival') ?? 0);
}

function noteCall(node: Tree, found: Found): void {
  const name = nameAt(node, 'funcname');
  found.calls.push(name);
  if (MOVING_CLOCKS.has(name.name) && !found.values.has(node)) found.moving.add(name.name);
  if (isRandomUuid(name) && !found.values.has(node))
    found.reasons.add(
      `${name.name}() gives another value in the commit than in the dry run: write the value, or insert it as the whole value of a column`,
    );
  const problem = paddingProblem(name.name, list(node, 'args'));
  if (problem !== null) found.reasons.add(problem);
  if (SET_FUNCTIONS.has(name.name) && !list(node, 'args').every(isConstant))
    found.reasons.add(`${name.name}() returns a number of rows that is not written in the statement`);
}

const MAX_PADDING = 10_000;
/** A format string without a width, such as `%s and %1$I`. */
const PLAIN_FORMAT = /^(?:[^%]|%%|%(?:\d+\$)?[sIL])*$/;

/** A short diff must not make the server build values of gigabytes. */
function paddingProblem(name: string, args: readonly unknown[]): string | null {
  const position = PADDING_FUNCTIONS[name];
  if (position !== undefined) {
    const length = typed(args[position]);
    const literal = length?.type === 'A_Const' ? length.node['ival'] : undefined;
    // The parser leaves out a zero. Text in quotes is a length too.
    const value = literal === undefined ? null : (number(child(length?.node ?? {}, 'ival'), 'ival') ?? 0);
    return value !== null && value <= MAX_PADDING
      ? null
      : `the length of ${name}() is not a constant of at most ${MAX_PADDING}`;
  }
  if (name !== 'format') return null;
  const pattern = typed(args[0]);
  const isPlain = pattern?.type === 'A_Const' && PLAIN_FORMAT.test(text(child(pattern.node, 'sval'), 'sval'));
  return isPlain ? null : 'the pattern of format() is not a constant without widths';
}

/** A literal, also in a cast, a sign or an array. */
export function isConstant(value: unknown): boolean {
  const node = typed(value);
  switch (node?.type) {
    case 'A_Const':
    case 'ParamRef': // a value of the document
      return true;
    case 'TypeCast':
    case 'NamedArgExpr':
      return isConstant(node.node['arg']);
    case 'A_ArrayExpr':
      return list(node.node, 'elements').every(isConstant);
    case 'A_Expr':
      return node.node['lexpr'] === undefined && isConstant(node.node['rexpr']);
    default:
      return false;
  }
}

function noteWrite(command: Write['command'], node: Tree, found: Found): void {
  const { write, values, setsDefault } = readWrite(command, node);
  found.writes.push(write);
  for (const value of values) found.values.add(value);
  if (setsDefault) found.reasons.add('SET … = DEFAULT may take values of a sequence');
}
