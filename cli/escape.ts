/**
 * Text of strangers on a terminal.
 *
 * E1 Nothing invisible, reordering or controlling gets through: it is shown as `⟦U+202E⟧`. That covers C0, C1, DEL, ESC, bidi
 *    controls, zero-width and other ignorable characters, tags, variation selectors, fillers, surrogates, private and unassigned.
 * E2 What is shown can be read back: the bracket itself is escaped too, so nobody can forge an escape.
 * E3 A pile of combining marks cannot grow over the lines around it: past three in a row they are escaped.
 * A whitelist by property, not a list of known tricks: what Unicode adds later is unassigned here, hence escaped.
 */
// One character at a time, no quantifier: linear whatever comes.
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u27e6]/u;
// Spaces that are not U+0020 look like it, and are not.
const ODD_SPACE = /\p{Zs}/u;
const MARK = /\p{M}/u;
const MAX_MARKS = 3;

/** One line, safe to print. Newlines and tabs are escaped like every other control. */
export function escapeLine(text: string): string {
  let shown = '';
  let marks = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (code >= 0x20 && code < 0x7f) {
      shown += char;
      marks = 0;
      continue;
    }
    marks = MARK.test(char) ? marks + 1 : 0;
    const hidden = HIDDEN.test(char) || ODD_SPACE.test(char) || marks > MAX_MARKS;
    shown += hidden ? visible(code) : char;
  }
  return shown;
}

/** Lines of a text, each safe to print. Tabs are shown as `⇥`; CR LF is one line end, a lone CR is shown. */
export function escapeLines(text: string): string[] {
  return text.split('\n').map((line) => escapeTabs(line.endsWith('\r') ? line.slice(0, -1) : line));
}

function escapeTabs(line: string): string {
  return line.split('\t').map(escapeLine).join('⇥   ');
}

/** JSON that may go to a terminal: what `escapeLine` would hide is `\uXXXX`, which reads back as the same value. */
export function escapeJson(json: string): string {
  let shown = '';
  for (const char of json) {
    const code = char.codePointAt(0) ?? 0;
    // What stands outside a string is ASCII: an indented text's newlines are its own.
    if ((code >= 0x20 && code < 0x7f) || char === '\n') shown += char;
    else shown += HIDDEN.test(char) && char !== '⟦' ? units(char) : char;
  }
  return shown;
}

function visible(code: number): string {
  return `⟦U+${code.toString(16).toUpperCase().padStart(4, '0')}⟧`;
}

function units(char: string): string {
  let text = '';
  for (let i = 0; i < char.length; i++) text += `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`;
  return text;
}
