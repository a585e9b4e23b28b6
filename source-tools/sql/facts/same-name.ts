import type { SqlName } from './sql-facts';

/** Whether both may name the same table: one without a schema may be in any. */
export function sameName(a: SqlName, b: SqlName): boolean {
  return a.name === b.name && (a.schema === b.schema || a.schema === null || b.schema === null);
}
