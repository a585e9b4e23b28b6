import { linesOf, sourceLines } from '../../policy/text/escape';
import { counted } from '../../policy/text/counted';
import { jsonOf } from '../../policy/text/json-of';
import { decodeUtf8 } from '../../policy/text/utf8';
import { styled, type Printer, type Style } from '../printer';
import { closingQuote } from '../../policy/text/json-string';

/** Prints a diff from its bytes: all of it, or at most `max` lines, and then how many it left out. */
export function printDiff(out: Printer, sourceTool: string, bytes: Uint8Array, max = Infinity): void {
  const text = decodeUtf8(bytes);
  if (text === null) {
    out.line(styled('yellow', 'not UTF-8: shown as bytes'));
    printLeftOut(out, out.block(hex(bytes), '  ', null, max));
    return;
  }
  const oneLineJson =
    !text.trimEnd().includes('\n') && /^[\s]*[[{]/.test(text.slice(0, 100)) && jsonOf(text) !== undefined;
  if (oneLineJson) out.line(styled('dim', 'one line of JSON, shown on several lines; every token is unchanged'));
  if (linesOf(text).join('\n') !== text) out.line(styled('dim', 'every line ends with CR LF'));
  const lines = sourceLines(oneLineJson ? reindent(text) : text);
  const width = String(lines.length).length;
  const style = sourceTool === 'GitPatch' ? patchStyle() : null;
  printLeftOut(
    out,
    out.block(lines, (n) => `${String(n).padStart(width)} │ `, style, max),
  );
}

function printLeftOut(out: Printer, omitted: number): void {
  if (omitted > 0) out.line(styled('yellow', `  … ${counted(omitted, 'more line')} of the change (--all)`));
}

/** The lines that an evidence reference `diff:<sha>#L3:C5-L3:C20` points at; empty for other forms and other diffs. */
function evidenceLines(
  reference: string,
  diffSha: string,
  text: string | null,
): { readonly first: number; readonly lines: readonly string[] } {
  const match = /^diff:([0-9a-f]{64})#L([0-9]{1,7}):C[0-9]{1,7}-L([0-9]{1,7}):C[0-9]{1,7}$/.exec(reference);
  const first = Number(match?.[2] ?? 0);
  if (match === null || text === null || match[1] !== diffSha || first === 0) return { first, lines: [] };
  return { first, lines: linesOf(text).slice(first - 1, Number(match[3])) };
}

/** Colours the lines of a patch in order. Inside a hunk, a line that starts with `+++` is an added line and not a header. */
function patchStyle(): (shown: string) => Style | null {
  let [removed, added] = [0, 0];
  return (shown) => {
    if (removed > 0 || added > 0) {
      const sign = shown.charAt(0);
      if (sign !== '+' && sign !== '\\') removed--;
      if (sign !== '-' && sign !== '\\') added--;
      return sign === '+' ? 'green' : sign === '-' ? 'red' : null;
    }
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(shown);
    if (hunk !== null) [removed, added] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)];
    if (shown.startsWith('+++') || shown.startsWith('---') || shown.startsWith('diff ')) return 'bold';
    return shown.startsWith('@@') ? 'cyan' : null;
  };
}

function hex(bytes: Uint8Array): string {
  const rows: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.subarray(at, at + 16)];
    const digits = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const ascii = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    rows.push(`${at.toString(16).padStart(6, '0')}  ${digits.padEnd(47)}  ${ascii}`);
  }
  return rows.join('\n');
}

const MAX_LINES = 3;

/**
 * Prints the lines that evidence points at, at most three or `max` for each reference, and the last one of longer places; prints other
 * references as they are.
 */
export function printEvidence(
  out: Printer,
  references: readonly string[],
  diffSha: string,
  text: string | null,
  max = Infinity,
): void {
  for (const reference of references) {
    const { first, lines } = evidenceLines(reference, diffSha, text);
    if (lines.length === 0 && max === Infinity) out.block(reference, '      ', () => 'dim');
    else if (lines.length === 0) out.cut(reference.replaceAll(/([0-9a-f]{8})[0-9a-f]{56}/g, '$1'), '      ', 'dim');
    const shown = lines.slice(0, Math.min(MAX_LINES, max));
    shown.forEach((content, i) => {
      const to = i === 0 && shown.length < lines.length ? `…L${first + lines.length - 1}` : '';
      const gutter = `      L${first + i}${to} │ `;
      if (max === Infinity) out.block([content], gutter);
      else out.cut(content, gutter);
    });
  }
}

/**
 * Breaks JSON into lines with every token unchanged. Parsing and serializing again would hide duplicate keys and change
 * numbers and escapes.
 */
function reindent(json: string): string {
  let out = '';
  let depth = 0;
  for (let i = 0; i < json.length; i++) {
    const char = json.charAt(i);
    if (char === '"') {
      const close = closingQuote(json, i + 1);
      const end = close === -1 ? json.length : close + 1;
      out += json.slice(i, end);
      i = end - 1;
      continue;
    }
    if (char === '}' || char === ']') out += newline((depth = Math.max(0, depth - 1)));
    out += char;
    if (char === '{' || char === '[') {
      const close = char === '{' ? '}' : ']';
      if (json.charAt(i + 1) === close) out += json.charAt(++i);
      else out += newline(++depth);
    } else if (char === ',') out += newline(depth);
  }
  return out;
}

function newline(depth: number): string {
  return `\n${'  '.repeat(Math.min(depth, 40))}`;
}
