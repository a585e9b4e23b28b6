import { clip } from '../text/cut-text';
import { makeVisible } from '../text/visible';

/**
 * Sanitizes a model's text for display: one line of at most `max` UTF-16 units, without control characters and without
 * Markdown or HTML that a page would interpret. The reader must still be told that a model wrote it.
 */
export function humanText(text: string, max: number): string {
  let plain = '';
  for (const letter of makeVisible(text.replaceAll('\n', ' ').replaceAll('\t', ' ')).text) {
    // Without brackets there are no links, images or tags; without backticks no code spans.
    plain +=
      letter === '['
        ? '('
        : letter === ']'
          ? ')'
          : letter === '<'
            ? '\u2039'
            : letter === '>'
              ? '\u203a'
              : letter === '`'
                ? "'"
                : letter;
  }
  const bare = plain.trim();
  return clip(bare, max);
}

/** Replaces lone surrogates, which a model can write as escapes, by U+FFFD: they cannot be encoded, hashed or signed. */
export function wellFormed(text: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(text));
}
