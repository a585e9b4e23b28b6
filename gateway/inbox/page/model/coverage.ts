/** Which evidence was on screen. */
import { blocksOf, type Place } from './evidence';

/** Fraction of the blocks of evidence that were on screen, 0 to 1. A violation without a place on the page counts as covered. */
export function coverageOf(places: readonly Place[], seen: ReadonlySet<string>): number {
  const blocks = [...new Set(places.flatMap(blocksOf))];
  if (blocks.length === 0) return 1;
  const covered = blocks.filter((block) => seen.has(block)).length / blocks.length;
  // Rounded down: 1 means all of it.
  return Math.floor(covered * 1000) / 1000;
}

/** Places of which nothing was on screen yet. A confirmation waits for them. */
export function unseenPlaces(places: readonly Place[], seen: ReadonlySet<string>): Place[] {
  return places.filter((place) => {
    const blocks = blocksOf(place);
    return blocks.length > 0 && !blocks.some((block) => seen.has(block));
  });
}
