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
