/**
 * Indexes of the columns in the order in which a row is shown: a key if one is recognized, then what changes, then the rest. A preview has
 * its columns in alphabetical order, and does not say which of them is the key.
 */
export function columnOrder(columns: readonly { readonly name: string; readonly changes: boolean }[]): number[] {
  const key = columns.findIndex(({ name }) => /^(id|uuid|key)$/i.test(name));
  const rank = (i: number): number => (i === key ? 0 : columns[i]?.changes === true ? 1 : 2);
  return columns.map((_, i) => i).sort((a, b) => rank(a) - rank(b) || a - b);
}
