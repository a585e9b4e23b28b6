import { clip } from '../text/cut-text';
import { makeVisible } from '../text/visible';

/**
 * A model's words, fit to be shown to people: one line, no control bytes, no markdown or HTML that a page would follow,
 * bounded. What is left is still machine text, and is labelled as such where it is shown.
 */
export function humanText(text: string, max: number): string {
  let plain = '';
  for (const letter of makeVisible(text.replaceAll('\n', ' ').replaceAll('\t', ' ')).text) {
    // Without brackets there is no link, no image and no tag; without back-ticks no code span to hide in.
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

/** Half a surrogate pair, which a model can write as an escape, has no bytes to be hashed or signed: it becomes U+FFFD. */
export function wellFormed(text: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(text));
}
