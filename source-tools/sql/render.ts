import type { DiffRenderer } from '../../policy/contracts/source-tool';
import { plainBorders, splitLines } from '../../policy/text/render/source-lines';
import { lex, punctuationOf, skipComment, skipLineComment } from './facts/lexer';

/** Renders SQL unchanged. The document may be split before a line that follows the end of a statement. */
export const sqlRenderer: DiffRenderer = {
  name: 'sql',
  revision: 2,
  language: 'sql',
  render: (text) => {
    const lines = splitLines(text);
    return lines === null ? null : { lines, borders: () => plainBorders(statementStarts(text)) };
  },
};

const FEED = 0x0a;
const DASH = 0x2d;
const SLASH = 0x2f;

/** Indexes of lines at which a statement can start: the first line, and each line that follows a semicolon without another token between. */
function statementStarts(text: string): Set<number> {
  const bytes = new TextEncoder().encode(text);
  const tokens = lex(bytes);
  const starts = new Set([0]);
  let [line, counted] = [0, 0];
  for (let i = 0; i < tokens.count; i++) {
    if (punctuationOf(bytes, tokens, i) !== ';') continue;
    const feed = feedAfter(bytes, tokens.ends[i] as number, tokens.starts[i + 1] ?? bytes.length);
    if (feed === null || feed + 1 === bytes.length) continue;
    for (; counted <= feed; counted++) if (bytes[counted] === FEED) line++;
    starts.add(line);
  }
  return starts;
}

/** Offset of the first line feed outside of comments, or null. `start` to `end` is a gap between two tokens. */
function feedAfter(bytes: Uint8Array, start: number, end: number): number | null {
  for (let i = start; i < end;) {
    if (bytes[i] === FEED) return i;
    if (bytes[i] === DASH) i = skipLineComment(bytes, i);
    else if (bytes[i] === SLASH) i = skipComment(bytes, i);
    else i++;
  }
  return null;
}
