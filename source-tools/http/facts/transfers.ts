import type { JsonValue } from '../../../policy/contracts/canonical-json';
import { arrayIndex } from '../../../policy/text/json-pointer';
import type { Transfer } from './http-facts';
import type { Json } from './json';
import { valueAtPointer, type Operation } from './json-patch';

export interface NameBudget {
  left: number;
}

/**
 * What a `copy` or `move` takes from where; null for any other operation. `document`: the staged document before the patch, so
 * names that an earlier operation of the same patch writes are not listed; they are members of that operation.
 */
export function transferOf(
  { op, path, from }: Operation,
  at: string,
  document: JsonValue | undefined,
  budget: NameBudget,
): Transfer | null {
  if (from === null || (op !== 'copy' && op !== 'move')) return null;
  const source = document === undefined ? undefined : valueAtPointer(document as Json, from);
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
  return { how: op, from, to: path, at: `${at}/from`, below: [...below], complete: budget.left >= 0 };
}
