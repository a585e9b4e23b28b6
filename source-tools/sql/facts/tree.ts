import type { SqlName } from './sql-facts';
import { parseStatements, type Tree } from './parser';

/** A node with its type, `{"DeleteStmt": {…}}` in the parser's JSON. */
export interface TypedNode {
  readonly type: string;
  readonly node: Tree;
}

const EMPTY: Tree = Object.freeze({});

/** Unwraps `{"Type": {…}}`. Null for anything else. Type names start with a capital letter, field names do not. */
export function typed(value: unknown): TypedNode | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const keys = Object.keys(value);
  const type = keys[0];
  if (keys.length !== 1 || type === undefined) return null;
  const first = type.charCodeAt(0);
  if (first < 65 || first > 90) return null;
  const node = (value as Tree)[type];
  return typeof node === 'object' && node !== null ? { type, node: node as Tree } : null;
}

/** The node of a wrapper `{"Type": {…}}`, else an empty object. */
export function nodeOf(value: unknown): Tree {
  return typed(value)?.node ?? EMPTY;
}

/** The statement of a text that consists of one statement, else null. */
export function onlyStatement(sql: string): TypedNode | null {
  const parsed = parseStatements(sql);
  return parsed.ok && parsed.value.length === 1 ? typed(parsed.value[0]?.stmt) : null;
}

export function text(node: Tree, key: string): string {
  const value = node[key];
  return typeof value === 'string' ? value : '';
}

export function flag(node: Tree, key: string): boolean {
  return node[key] === true;
}

export function number(node: Tree, key: string): number | null {
  const value = node[key];
  return typeof value === 'number' ? value : null;
}

/** The member if it is an object, else an empty object. */
export function child(node: Tree, key: string): Tree {
  const value = node[key];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Tree) : EMPTY;
}

export function has(node: Tree, key: string): boolean {
  return node[key] !== undefined;
}

export function list(node: Tree, key: string): readonly unknown[] {
  const value = node[key];
  return Array.isArray(value) ? value : [];
}

export function typedList(node: Tree, key: string): readonly TypedNode[] {
  return list(node, key).flatMap((item) => typed(item) ?? []);
}

/** Values of the String nodes in a list, for example of a qualified name. Other nodes (`*`) are skipped. */
export function strings(items: readonly unknown[]): readonly string[] {
  return items.flatMap((item) => {
    const node = typed(item);
    return node?.type === 'String' ? [text(node.node, 'sval')] : [];
  });
}

/** `a.b.c` gives schema b and name c: PostgreSQL only allows the current database as catalog. */
export function nameFrom(parts: readonly string[]): SqlName {
  return { schema: parts.at(-2) ?? null, name: parts.at(-1) ?? '' };
}

export function rangeName(range: Tree): SqlName {
  const schema = range['schemaname'];
  return { schema: typeof schema === 'string' ? schema : null, name: text(range, 'relname') };
}

/** The member `key` as a name: its list of String nodes, which may be qualified. */
export function nameAt(node: Tree, key: string): SqlName {
  return nameFrom(strings(list(node, key)));
}

/** Unqualified name of a column, so that `t.id` gives `id`. Null for another expression, and for `*` alone. */
export function columnName(expression: unknown): string | null {
  const e = typed(expression);
  return e?.type === 'ColumnRef' ? (strings(list(e.node, 'fields')).at(-1) ?? null) : null;
}

/** True for `*` and `t.*`. */
export function isStar(expression: unknown): boolean {
  const e = typed(expression);
  return e?.type === 'ColumnRef' && typed(list(e.node, 'fields').at(-1))?.type === 'A_Star';
}

/** Options (DefElem nodes) of `WITH (…)`, EXPLAIN, COPY, CREATE FUNCTION and others. */
export function options(node: Tree, key = 'options'): readonly Tree[] {
  return typedList(node, key).flatMap((o) => (o.type === 'DefElem' ? [o.node] : []));
}

/** True if the boolean option `name` is among the options and is on. */
export function isOptionOn(all: readonly Tree[], name: string): boolean {
  return all.some((option) => text(option, 'defname') === name && isOn(option));
}

/** True if a boolean option is on. An option without a value is on, like in PostgreSQL's `defGetBoolean`. */
export function isOn(option: Tree): boolean {
  const arg = typed(option['arg']);
  if (arg === null) return true;
  if (arg.type === 'Boolean') return flag(arg.node, 'boolval');
  if (arg.type === 'Integer') return (number(arg.node, 'ival') ?? 0) !== 0;
  return !['false', 'off', '0', 'no'].includes(text(arg.node, 'sval').toLowerCase());
}
