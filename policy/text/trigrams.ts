/**
 * Three units in one number, five bits each: letters of both cases fall together, and so do some other units, which a
 * second look tells apart. One step and one look into a table for each unit of a text, whatever the number of words.
 */
export const TRIGRAMS = 1 << 15;

/** The units that end with `code`, after those of `trigram`. */
export function nextTrigram(trigram: number, code: number): number {
  return ((trigram << 5) | (code & 31)) & (TRIGRAMS - 1);
}

/** Of the first three units. */
export function trigramOf(text: string): number {
  let trigram = 0;
  for (let i = 0; i < 3; i++) trigram = nextTrigram(trigram, text.charCodeAt(i));
  return trigram;
}

/** Words by their first three units; in their order, where some share them. */
export function byTrigram(words: readonly string[]): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, string[]>();
  for (const word of words) {
    if (word.length < 3) throw new RangeError(`expected a word of three letters or more, got "${word}"`);
    found.set(trigramOf(word), [...(found.get(trigramOf(word)) ?? []), word]);
  }
  return found;
}
