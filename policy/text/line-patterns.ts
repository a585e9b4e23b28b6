import { RE2JS } from 're2js';

/** What a line may say, for one rule. The pattern is tried only on lines that hold one of the words (lower case): most hold none. */
export interface LinePattern {
  readonly what: string;
  readonly words: readonly string[];
  readonly pattern: RE2JS;
}

/** Linear time; letters of either case. */
export function linePattern(what: string, words: readonly string[], pattern: string): LinePattern {
  return { what, words, pattern: RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE) };
}

/** A line without any of these says nothing. */
export function wordsOf(patterns: readonly LinePattern[]): readonly string[] {
  return [...new Set(patterns.flatMap(({ words }) => words))];
}

/** What the line says, by the first pattern that matches; null for nothing. */
export function saidBy(patterns: readonly LinePattern[], text: string): string | null {
  const lower = text.toLowerCase();
  const found = patterns.find(({ words, pattern }) => words.some((word) => lower.includes(word)) && pattern.test(text));
  return found?.what ?? null;
}
