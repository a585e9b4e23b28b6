import { clip } from '../text/cut-text';
import { makeVisible } from '../text/visible';

/**
 * Sanitizes a model's text for display: one line of at most `max` UTF-16 units, without control characters and without
 * Markdown or HTML that a page would interpret. The reader must still be told that a model wrote it.
 */
export function humanText(text: string, max: number): string {
  const line = makeVisible(text.replace(/[\n\t]/g, ' '));
  return clip(line.replace(/[[\]<>`]/g, (letter) => PLAIN[letter] as string).trim(), max);
}

/** Without brackets there are no links, images or tags; without backticks no code spans. */
const PLAIN: Readonly<Record<string, string>> = { '[': '(', ']': ')', '<': '\u2039', '>': '\u203a', '`': "'" };
