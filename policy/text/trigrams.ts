/**
 * A hash of three UTF-16 code units, five bits each. Upper and lower case collide on purpose; other collisions must be resolved
 * by comparing the text. Scanning takes one step and one table lookup per code unit, regardless of the number of words.
 */
export const TRIGRAMS = 1 << 15;

/** The trigram of the last two code units of `trigram` and `code`. */
export function nextTrigram(trigram: number, code: number): number {
  return ((trigram << 5) | (code & 31)) & (TRIGRAMS - 1);
}

/** The trigram of the first three code units. */
export function trigramOf(text: string): number {
  let trigram = 0;
  for (let i = 0; i < 3; i++) trigram = nextTrigram(trigram, text.charCodeAt(i));
  return trigram;
}

/** Words by the trigram of their start; words with the same trigram keep their order. */
export function byTrigram(words: readonly string[]): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, string[]>();
  for (const word of words) {
    if (word.length < 3) throw new RangeError(`expected a word of three letters or more, got "${word}"`);
    found.set(trigramOf(word), [...(found.get(trigramOf(word)) ?? []), word]);
  }
  return found;
}
