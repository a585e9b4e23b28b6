import { arrayIndex } from '../../../policy/text/json-pointer';
import type { Transfer } from './http-facts';
import type { Json } from './json';
import type { Operation } from './json-patch';

export interface NameBudget {
  left: number;
}

/** What a `copy` or `move` takes from where; empty for any other operation. `source`: the value that it takes, if it is known. */
export function transfersOf(
  { op, path, from }: Operation,
  at: string,
  source: Json | undefined,
  budget: NameBudget,
): Transfer[] {
  if (from === null || (op !== 'copy' && op !== 'move')) return [];
  const below = new Set<string>();
  const collect = (value: Json): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (--budget.left < 0) return;
      if (!Array.isArray(value) || arrayIndex(name) === null) below.add(name);
      collect(member);
    }
  };
  if (source !== undefined) collect(source);
  return [{ how: op, from, to: path, at: `${at}/from`, below: [...below], complete: budget.left >= 0 }];
}
