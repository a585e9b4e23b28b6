import { codePointName } from './code-points';
import { isInvisible } from './invisible';

/**
 * Escapes untrusted text for a terminal or a page.
 *
 * E1 Characters that are invisible, reorder text or control a terminal are shown as `⟦U+202E⟧`: C0, C1, DEL, ESC, bidi
 *    controls, spaces other than U+0020, zero-width and other ignorable characters, tags, variation selectors, fillers,
 *    surrogates, private use and unassigned code points.
 * E2 Escaping is injective: the bracket is escaped too, so that text cannot imitate an escape.
 * E3 Combining marks cannot cover the lines around them: after three in a row they are escaped.
 * Besides the table of invisible characters there is an allowlist by Unicode property, not by known attacks: code points that
 * Unicode adds later are unassigned here, and so they are escaped.
 */
// Matches one character, without a quantifier: linear for any input.
const HIDDEN = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u27e6]/u;
const MARK = /\p{M}/u;
const MAX_MARKS = 3;

/** One line that is safe to print. Newlines and tabs are escaped as other control characters are. */
export function escapeLine(text: string): string {
  return escaped(text, (char) => `⟦${codePointName(char.codePointAt(0) as number)}⟧`);
}

/** Replaces each character that is not safe to print by its escape. */
function escaped(text: string, escapeOf: (char: string) => string): string {
  let shown = '';
  let marks = 0;
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    if (code >= 0x20 && code < 0x7f) {
      shown += char;
      marks = 0;
      continue;
    }
    marks = MARK.test(char) ? marks + 1 : 0;
    const hidden = isInvisible(code) || HIDDEN.test(char) || marks > MAX_MARKS;
    shown += hidden ? escapeOf(char) : char;
  }
  return shown;
}

/** The lines of a text, each safe to print. */
export function escapeLines(text: string): string[] {
  return linesOf(text).map(escapeSourceLine);
}

/** As `escapeLine`, with a tab as `⇥`. */
export function escapeSourceLine(line: string): string {
  return line.split('\t').map(escapeLine).join('⇥   ');
}

/**
 * The lines of a text. A CR before the line feed is part of the line end only if all lines have it. Otherwise it is content, because the
 * old and the new line of a patch may differ in it only.
 */
export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  const ended = lines.slice(0, -1);
  return ended.every((line) => line.endsWith('\r'))
    ? [...ended.map((line) => line.slice(0, -1)), ...lines.slice(-1)]
    : lines;
}

/** As `linesOf`, without the empty one after the last line feed. */
export function sourceLines(text: string): string[] {
  const lines = linesOf(text);
  return lines.length > 1 && lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/**
 * JSON that is safe to print: what `escapeLine` would escape becomes `\uXXXX`, which parses to the same value. The bracket is kept,
 * because it does not start an escape here.
 */
export function escapeJson(json: string): string {
  // Outside of strings JSON is ASCII; newlines there are indentation.
  return escaped(json, (char) => (char === '\n' || char === '⟦' ? char : units(char)));
}

function units(char: string): string {
  let text = '';
  for (let i = 0; i < char.length; i++) text += `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`;
  return text;
}
