/**
 * Everything that the CLI prints goes through a printer. Text consists of spans; each span is escaped when it is printed, so
 * that a command cannot forget to, and colours are added only here.
 */
import { escapeJson, escapeLine, escapeSourceLine, linesOf, sourceLines } from '../policy/text/escape';

export interface Sink {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean | undefined;
  /** Width of the terminal, if it is one. */
  readonly columns?: number | undefined;
}

const SGR = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const;
export type Style = keyof typeof SGR;

interface Span {
  readonly text: string;
  readonly styles: readonly Style[];
}

/** A line of text. Only `line` and `styled` create it. */
export class Text {
  constructor(readonly spans: readonly Span[]) {}
}

export type Printable = string | number | Text;

/** Template tag. Values are untrusted text, unless they are a Text. */
export function line(strings: TemplateStringsArray, ...values: readonly Printable[]): Text {
  const spans: Span[] = [];
  strings.forEach((text, i) => {
    spans.push({ text, styles: [] });
    const value = values[i];
    if (value !== undefined) spans.push(...toText(value).spans);
  });
  return new Text(spans);
}

export function styled(style: Style, value: Printable): Text {
  return new Text(toText(value).spans.map((span) => ({ ...span, styles: [...span.styles, style] })));
}

function toText(value: Printable): Text {
  return value instanceof Text ? value : new Text([{ text: String(value), styles: [] }]);
}

export interface Printer {
  readonly line: (text?: Printable) => void;
  /**
   * Several lines, each after the gutter, so that untrusted text cannot imitate other output; wraps at the terminal's width. Prints at
   * most `max` lines, and returns the number of lines that it left out.
   */
  readonly block: (
    text: string | readonly string[],
    gutter: string | ((n: number) => string),
    style?: ((line: string, n: number) => Style | null) | null,
    max?: number,
  ) => number;
  /** One line of untrusted text after the gutter, cut at the terminal's width with `…`. Returns whether it was cut. */
  readonly cut: (text: string, gutter: string, style?: Style | null) => boolean;
  /** Tab-separated cells, for pipes. A tab inside a cell is escaped. */
  readonly tabbed: (cells: readonly string[]) => void;
  /** A file, byte for byte unless this is a terminal, on which it is escaped as a block. */
  readonly file: (text: string) => void;
  /** One JSON document on one line. */
  readonly json: (value: unknown) => void;
}

export function createPrinter(sink: Sink, color: boolean): Printer {
  const widthAfter = (gutter: string): number | null => {
    if (sink.isTTY !== true) return null;
    // 0 if the terminal does not know its width.
    const columns = sink.columns ?? 0;
    return Math.max(20, (columns > 0 ? columns : 80) - cells(gutter));
  };
  const put = (text: Text): void => void sink.write(`${render(text, color)}\n`);
  const printer: Printer = {
    line: (text = '') => put(toText(text)),
    tabbed: (cells) => void sink.write(`${cells.map(escapeLine).join('\t')}\n`),
    file: (text) => {
      if (sink.isTTY === true) printer.block(sourceLines(text), '');
      else sink.write(text);
    },
    json: (value) => void sink.write(`${escapeJson(JSON.stringify(value))}\n`),
    cut: (text, gutter, style = null) => {
      const shown = escapeLine(text);
      const width = widthAfter(gutter);
      const whole = width === null || cells(shown) <= width;
      const content: Span = {
        text: whole ? shown : `${fitting(shown, width - 2)} …`,
        styles: style === null ? [] : [style],
      };
      sink.write(`${render(styled('dim', gutter), color)}${paint(content, color)}\n`);
      return !whole;
    },
    block: (text, gutter, style, max = Infinity) => {
      let omitted = 0;
      let printed = 0;
      const lines = typeof text === 'string' ? linesOf(text) : text;
      lines.map(escapeSourceLine).forEach((shown, i) => {
        const before = typeof gutter === 'string' ? gutter : gutter(i + 1);
        const lineStyle = style?.(shown, i + 1) ?? null;
        wrap(shown, widthAfter(before)).forEach((piece, part) => {
          if (printed >= max) {
            omitted++;
            return;
          }
          printed++;
          const margin = part === 0 ? before : `${' '.repeat(Math.max(0, before.length - 2))}⋮ `;
          // Already escaped: the parts of an escape must not be escaped again.
          const content: Span = { text: piece, styles: lineStyle === null ? [] : [lineStyle] };
          sink.write(`${render(styled('dim', margin), color)}${paint(content, color)}\n`);
        });
      });
      return omitted;
    },
  };
  return printer;
}

/** The text escaped, and coloured if `color`. */
export function render(text: Text, color: boolean): string {
  return text.spans.map((span) => paint({ ...span, text: escapeLine(span.text) }, color)).join('');
}

function paint(span: Span, color: boolean): string {
  if (!color || span.styles.length === 0 || span.text === '') return span.text;
  return `\u001b[${span.styles.map((style) => SGR[style]).join(';')}m${span.text}\u001b[0m`;
}

/** An upper limit of the terminal cells: every character after the Latin blocks counts as two. */
function cells(text: string): number {
  let width = 0;
  for (const char of text) width += (char.codePointAt(0) ?? 0) > 0x2ff ? 2 : 1;
  return width;
}

function fitting(text: string, width: number): string {
  let shown = '';
  let used = 0;
  for (const char of text) {
    used += cells(char);
    if (used > width) break;
    shown += char;
  }
  return shown;
}

function wrap(text: string, width: number | null): string[] {
  if (width === null || cells(text) <= width) return [text];
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  for (const char of text) {
    const size = cells(char);
    if (used + size > width) {
      // Between two words if there is a space near the end: every character is still printed.
      const space = piece.lastIndexOf(' ') + 1;
      const end = space > piece.length * 0.7 ? space : piece.length;
      pieces.push(piece.slice(0, end));
      piece = piece.slice(end);
      used = cells(piece);
    }
    piece += char;
    used += size;
  }
  pieces.push(piece);
  return pieces;
}

/** Whether to colour this stream: only a terminal, and only if neither a flag nor the environment turns colours off. */
export function wantsColor(
  sink: Sink,
  env: { readonly NO_COLOR?: string | undefined; readonly TERM?: string | undefined },
  flag: boolean,
): boolean {
  return flag && sink.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
}
