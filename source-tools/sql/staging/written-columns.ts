import { combined, type Assigned } from '../facts/assigned';
import type { Write } from '../facts/writes';
import type { Relation } from './relation';

/** Columns with the way in which the statement assigns them. A column that an INSERT does not name gets its own default. */
export function columnsOf(relation: Relation, { command, columns }: Write): ReadonlyMap<string, Assigned> {
  const out = new Map<string, Assigned>();
  if (command === 'INSERT' || command === 'MERGE') for (const name of relation.columns) out.set(name, 'own');
  const seen = new Set<string>();
  for (const { name, assigned } of columns)
    for (const column of name === null ? relation.columns : [columnAt(relation, name)]) {
      out.set(column, seen.has(column) ? combined([out.get(column) ?? 'other', assigned]) : assigned);
      seen.add(column);
    }
  return out;
}

function columnAt({ columns }: Relation, name: string | number): string {
  return typeof name === 'string' ? name : (columns[name] ?? '');
}
