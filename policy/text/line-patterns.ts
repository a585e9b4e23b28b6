import { RE2JS } from 're2js';
import { lazyPattern } from './lazy-pattern';

/** A pattern for one line. It is tried only on lines that contain one of the words (lower case), which is rare. */
export interface LinePattern {
  readonly what: string;
  readonly words: readonly string[];
  readonly pattern: () => RE2JS;
}

/** The pattern in RE2 syntax: linear time, ignoring case. */
export function linePattern(what: string, words: readonly string[], pattern: string): LinePattern {
  return { what, words, pattern: lazyPattern(pattern, RE2JS.CASE_INSENSITIVE) };
}

/** All words of the patterns. A line without any of them matches no pattern. */
export function wordsOf(patterns: readonly LinePattern[]): readonly string[] {
  return [...new Set(patterns.flatMap(({ words }) => words))];
}

/** The description of the first pattern that matches the line; null if none matches. */
export function describeLine(patterns: readonly LinePattern[], text: string): string | null {
  const lower = text.toLowerCase();
  const found = patterns.find(
    ({ words, pattern }) => words.some((word) => lower.includes(word)) && pattern().test(text),
  );
  return found?.what ?? null;
}
