/** Draws an integer from 0 (inclusive) to `below` (exclusive). The sequence depends only on the seed. */
export type SeededRandom = (below: number) => number;

export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Throws RangeError if the list is empty. */
export function pick<T>(roll: SeededRandom, list: readonly T[]): T {
  const chosen = list[roll(list.length)];
  if (chosen === undefined) throw new RangeError('Cannot pick from an empty list');
  return chosen;
}

export function shuffled<T>(roll: SeededRandom, list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, key: roll(1_000_000_000) }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
