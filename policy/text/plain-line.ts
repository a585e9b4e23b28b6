import { toWellFormed } from '../contracts/canonical-json';
import { clip } from './cut-text';
import { makeVisible } from './visible';

/**
 * One line of at most `max` UTF-16 code units for the Temporal UI, from text that others wrote or that a forged result may contain.
 * Control, bidirectional and invisible characters are written as `⟦U+202E⟧`, and a backtick as an apostrophe.
 */
export function plainLine(text: unknown, max: number): string {
  if (typeof text !== 'string') return '';
  const line = toWellFormed(clip(text, max))
    .replace(/[ \t\r\n]+/g, ' ')
    .replaceAll('`', "'");
  return clip(makeVisible(line).trim(), max);
}

/** The same as a code span, in which markdown has no links, images or HTML. */
export function codeLine(text: unknown, max: number): string {
  const line = plainLine(text, max);
  return `\`${line === '' ? '-' : line}\``;
}
