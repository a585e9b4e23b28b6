import { createHash } from 'node:crypto';
import { UsageError } from '../../dev/run-program';

/** The items in an order that depends only on their names and the seed. */
export function shuffled<T extends { readonly name: string }>(items: readonly T[], seed: string): T[] {
  const key = ({ name }: T): string => createHash('sha256').update(`${seed} ${name}`).digest('hex');
  return items
    .map((item) => ({ item, key: key(item) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ item }) => item);
}

/** Every n-th item, from the i-th on, for `i/n`; all n parts together are all items. Throws UsageError. */
export function partOf<T>(items: readonly T[], part: string): T[] {
  const [, i, n] = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(part) ?? [];
  const [first, count] = [Number(i), Number(n)];
  if (!(first <= count)) throw new UsageError(`--part: expected i/n with i from 1 to n, got "${part}"`);
  return items.filter((_, index) => index % count === first - 1);
}
