/** What an INSERT, UPDATE, DELETE or MERGE writes to the columns of its table. */
import { assignedBy, callOf, combined, type Assigned } from './assigned';
import type { SqlName } from './sql-facts';
import type { Tree } from './parser';
import { child, isStar, list, rangeName, text, typed, typedList } from './tree';

export interface Write {
  readonly relation: SqlName;
  readonly command: 'INSERT' | 'UPDATE' | 'DELETE' | 'MERGE';
  /** `name`: for an INSERT without a column list the place among the table's columns, from 0. Null: each column of the table. */
  readonly columns: readonly { readonly name: string | number | null; readonly assigned: Assigned }[];
  /** True if the number of rows is written in the statement: INSERT … VALUES, or a SELECT without FROM. */
  readonly counted: boolean;
}

interface ReadWrite {
  readonly write: Write;
  /** Calls of clocks that are the whole value of a column, and of random UUIDs that are one of a new row. */
  readonly values: ReadonlySet<Tree>;
  /** UPDATE … SET x = DEFAULT, which takes a value of a sequence for each row. */
  readonly setsDefault: boolean;
}

export function readWrite(command: Write['command'], node: Tree): ReadWrite {
  const columns: Write['columns'][number][] = [];
  const values = new Set<Tree>();
  let setsDefault = false;
  const add = (value: unknown, isOfNewRow: boolean): void => {
    const call = isOfNewRow || assignedBy(value) === 'clock' ? callOf(value) : null;
    if (call !== null) values.add(call);
  };
  const set = (targets: readonly { readonly node: Tree }[]): void => {
    for (const target of targets) {
      const value = target.node['val'];
      add(value, false);
      columns.push({ name: text(target.node, 'name'), assigned: assignedBy(value) });
      setsDefault ||= hasDefault(value);
    }
  };
  if (command === 'UPDATE') set(typedList(node, 'targetList'));
  set(typedList(child(node, 'onConflictClause'), 'targetList'));
  for (const when of typedList(node, 'mergeWhenClauses')) {
    const targets = typedList(when.node, 'targetList');
    if (text(when.node, 'commandType') === 'CMD_INSERT') {
      const inserted = list(when.node, 'values');
      for (const value of inserted) add(value, !targets.some(isPart));
      const names = targets.map((target) => text(target.node, 'name'));
      if (inserted.length > 0) columns.push(...columnsInOrder(names, [inserted]));
    } else set(targets);
  }
  const source = typed(node['selectStmt'])?.node ?? null;
  if (command === 'INSERT' && source !== null) {
    columns.push(...insertedColumns(node, source));
    for (const value of keptValues(node, source)) add(value, true);
  }
  const counted = command === 'INSERT' && (source === null || isCounted(source));
  return { write: { relation: rangeName(child(node, 'relation')), command, columns, counted }, values, setsDefault };
}

/**
 * Values of which each becomes the value of a column of a new row. None if a value also decides about rows, as with DISTINCT or an
 * order, or becomes a part of a column, as in `INSERT INTO t (point.x)`.
 */
function keptValues(insert: Tree, source: Tree): readonly unknown[] {
  const decides = ['distinctClause', 'sortClause', 'groupClause', 'larg'].some((key) => source[key] !== undefined);
  if (decides || typedList(insert, 'cols').some(isPart)) return [];
  const rows = typedList(source, 'valuesLists').flatMap((row) => list(row.node, 'items'));
  return [...rows, ...typedList(source, 'targetList').map((target) => target.node['val'])];
}

function isPart({ node }: { readonly node: Tree }): boolean {
  return node['indirection'] !== undefined;
}

/** DEFAULT, also in the row of `SET (a, b) = (1, DEFAULT)`. */
function hasDefault(value: unknown): boolean {
  const node = typed(value);
  if (node?.type === 'MultiAssignRef') return hasDefault(node.node['source']);
  return node?.type === 'RowExpr' ? list(node.node, 'args').some(hasDefault) : node?.type === 'SetToDefault';
}

function insertedColumns(node: Tree, source: Tree): Write['columns'] {
  const names = typedList(node, 'cols').map((target) => text(target.node, 'name'));
  const rows = typedList(source, 'valuesLists').map((row) => list(row.node, 'items'));
  if (rows.length > 0) return columnsInOrder(names, rows);
  if (source['larg'] !== undefined) return unreadColumns(names);
  return columnsInOrder(names, [typedList(source, 'targetList').map((target) => target.node['val'])]);
}

/** `names`: empty for an INSERT without a column list. */
function columnsInOrder(names: readonly string[], rows: readonly (readonly unknown[])[]): Write['columns'] {
  if (rows.some((values) => values.some(isExpanded))) return unreadColumns(names);
  return Array.from({ length: rows[0]?.length ?? 0 }, (_, i) => ({
    name: names[i] ?? i,
    assigned: combined(rows.map((values) => assignedBy(values[i]))),
  }));
}

/** With a star or a set operation the values are not read: each column counts as assigned by an expression. */
function unreadColumns(names: readonly string[]): Write['columns'] {
  return (names.length > 0 ? names : [null]).map((name) => ({ name, assigned: 'other' }));
}

/** `*`, `row.*` or `(row).*`: the values of several columns. */
function isExpanded(value: unknown): boolean {
  const node = typed(value);
  if (node?.type !== 'A_Indirection') return isStar(value);
  return typed(list(node.node, 'indirection').at(-1))?.type === 'A_Star';
}

function isCounted(source: Tree): boolean {
  return source['larg'] === undefined && list(source, 'fromClause').length === 0;
}
