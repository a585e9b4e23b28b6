/**
 * The bytes of a change as lines on the page. Every byte is in a line: nothing is left out, whatever the tool.
 */
import { linesOf, sourceLines } from '../../../../policy/text/escape';
import { jsonOf } from '../../../../policy/text/json-of';
import { jsonRenderer } from '../../../../policy/text/render/json';
import { decodeUtf8 } from '../../../../policy/text/utf8';

export type LineKind = 'plain' | 'added' | 'removed' | 'context' | 'hunk' | 'file' | 'note';

export interface ShownLine {
  readonly text: string;
  readonly kind: LineKind;
  /** The range in the source, as evidence references count it: from 1, the end column exclusive. */
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** Line numbers in the old and the new file of a patch. */
  readonly oldNumber: number | null;
  readonly newNumber: number | null;
}

export interface ShownChange {
  readonly lines: readonly ShownLine[];
  readonly language: 'sql' | 'json' | 'patch' | 'text' | 'bytes';
  /** The decoded text; null for bytes that are not UTF-8. */
  readonly text: string | null;
  /** How the lines differ from the bytes, for people. */
  readonly note: string | null;
}

export function changeLines(sourceTool: string, bytes: Uint8Array): ShownChange {
  const text = decodeUtf8(bytes);
  if (text === null)
    return { lines: hexLines(bytes), language: 'bytes', text, note: 'Not UTF-8 text: shown as bytes in hexadecimal.' };
  const note = linesOf(text).join('\n') === text ? null : 'Every line ends with CR LF.';
  if (sourceTool === 'GitPatch') return { lines: patchLines(text), language: 'patch', text, note };
  const json = oneLineOfJson(text);
  if (json !== null)
    return { lines: json, language: 'json', text, note: 'One line of JSON, shown with one member on each line.' };
  const language = sourceTool === 'SQLDryRun' ? 'sql' : /^\s*[[{]/.test(text.slice(0, 200)) ? 'json' : 'text';
  return { lines: plainLines(text), language, text, note };
}

function lineAt(text: string, line: number, kind: LineKind): ShownLine {
  const place = { startLine: line, startColumn: 1, endLine: line, endColumn: text.length + 1 };
  return { text, kind, ...place, oldNumber: null, newNumber: null };
}

function plainLines(text: string): ShownLine[] {
  return sourceLines(text).map((line, i) => lineAt(line, i + 1, 'plain'));
}

function oneLineOfJson(text: string): ShownLine[] | null {
  if (text.trimEnd().includes('\n') || !/^\s*[[{]/.test(text.slice(0, 200))) return null;
  // The renderer drops white space between tokens, which is content in a text that is not JSON.
  const rendering = jsonOf(text) === undefined ? null : jsonRenderer.render(text);
  if (rendering === null) return null;
  return rendering.lines.map((line) => ({ ...line, kind: 'plain', oldNumber: null, newNumber: null }));
}

/** Lines of a patch. Inside a hunk only the counts of its header decide: a removed line `-- a` is not a file header `--- a`. */
function patchLines(text: string): ShownLine[] {
  let [oldLeft, newLeft, oldNumber, newNumber] = [0, 0, 0, 0];
  return sourceLines(text).map((line, i): ShownLine => {
    const at = (kind: LineKind, numbers: Partial<ShownLine> = {}): ShownLine => ({
      ...lineAt(line, i + 1, kind),
      ...numbers,
    });
    if (oldLeft > 0 || newLeft > 0) {
      if (line.startsWith('+')) {
        newLeft--;
        return at('added', { newNumber: newNumber++ });
      }
      if (line.startsWith('-')) {
        oldLeft--;
        return at('removed', { oldNumber: oldNumber++ });
      }
      if (line.startsWith('\\')) return at('note');
      oldLeft--;
      newLeft--;
      return at('context', { oldNumber: oldNumber++, newNumber: newNumber++ });
    }
    const hunk = HUNK.exec(line);
    if (hunk === null) return at(line.startsWith('\\') ? 'note' : 'file');
    [oldNumber, oldLeft, newNumber, newLeft] = [1, 2, 3, 4].map((group) => Number(hunk[group] ?? '1')) as Four;
    return at('hunk');
  });
}

type Four = [number, number, number, number];
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const BYTES_A_LINE = 16;
const LINE_FEED = 0x0a;

/** Columns count bytes here. */
function hexLines(bytes: Uint8Array): ShownLine[] {
  const lines: ShownLine[] = [];
  let line = 1;
  let lineStart = 0;
  for (let at = 0; at < bytes.length; at += BYTES_A_LINE) {
    const row = [...bytes.subarray(at, at + BYTES_A_LINE)];
    const digits = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const ascii = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    const start = { startLine: line, startColumn: at - lineStart + 1 };
    row.forEach((byte, i) => {
      if (byte === LINE_FEED) [line, lineStart] = [line + 1, at + i + 1];
    });
    lines.push({
      text: `${at.toString(16).padStart(6, '0')}  ${digits.padEnd(47)}  ${ascii}`,
      kind: 'plain',
      ...start,
      endLine: line,
      endColumn: at + row.length - lineStart + 1,
      oldNumber: null,
      newNumber: null,
    });
  }
  return lines;
}

export interface SideBySide {
  readonly left: number | null;
  readonly right: number | null;
  /** A line across both sides: a header, or a note. */
  readonly whole: number | null;
}

/** Rows of a patch with the old file on the left and the new one on the right, as indexes of lines. */
export function sideBySide(lines: readonly ShownLine[]): SideBySide[] {
  const rows: SideBySide[] = [];
  let [removed, added]: [number[], number[]] = [[], []];
  const flush = (): void => {
    for (let i = 0; i < Math.max(removed.length, added.length); i++)
      rows.push({ left: removed[i] ?? null, right: added[i] ?? null, whole: null });
    [removed, added] = [[], []];
  };
  lines.forEach(({ kind }, i) => {
    if (kind === 'removed') {
      if (added.length > 0) flush();
      removed.push(i);
      return;
    }
    if (kind === 'added') {
      added.push(i);
      return;
    }
    flush();
    rows.push(kind === 'context' ? { left: i, right: i, whole: null } : { left: null, right: null, whole: i });
  });
  flush();
  return rows;
}
