import { createHash } from 'node:crypto';

/** The items in an order that depends only on their names and the seed. */
export function shuffled<T extends { readonly name: string }>(items: readonly T[], seed: string): T[] {
  const key = ({ name }: T): string => createHash('sha256').update(`${seed} ${name}`).digest('hex');
  return items
    .map((item) => ({ item, key: key(item) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ item }) => item);
}
