import { diffEvidence, type Span } from '../contracts/facts';
import { quotable, type DocumentLine, type JudgeDocument } from './document';
import { isShown, type Piece } from './pieces';

/**
 * Evidence references for marked line numbers. Drops numbers outside the piece that was shown and merges consecutive
 * lines into one span.
 */
export function lineEvidence(
  diffSha: string,
  document: JudgeDocument,
  piece: Piece,
  lines: readonly number[],
): string[] {
  const known = [...new Set(lines)].filter((n) => isShown(piece, n)).sort((a, b) => a - b);
  const spans: Span[] = [];
  let previous = -1;
  for (const n of known) {
    const line = document.lines[n - 1];
    if (line === undefined) continue;
    const last = spans.at(-1);
    if (last !== undefined && n === previous + 1)
      spans[spans.length - 1] = { ...last, endLine: line.endLine, endColumn: line.endColumn };
    else spans.push(spanOf(line));
    previous = n;
  }
  return [...new Set(spans.map((span) => diffEvidence(diffSha, span)))];
}

/** Evidence for the complete piece, used if the model named no line of it. */
export function pieceEvidence(diffSha: string, document: JudgeDocument, piece: Piece): string {
  const first = document.lines[piece.first];
  const last = document.lines[piece.last];
  if (first === undefined || last === undefined) return `diff:${diffSha}#L1:C1-L1:C1`;
  return diffEvidence(diffSha, { ...spanOf(first), endLine: last.endLine, endColumn: last.endColumn });
}

/** Whether the quotation occurs verbatim in the text that was shown; null for an empty quotation. */
export function isQuoteVerified(document: JudgeDocument, piece: Piece, quote: string): boolean | null {
  if (quote.trim() === '') return null;
  const shown = [...piece.context.map((i) => document.lines[i]), ...document.lines.slice(piece.first, piece.last + 1)];
  const text = quotable(shown.filter((line): line is DocumentLine => line !== undefined));
  return text.includes(quote) || [...document.metadata, ...document.prose].some((line) => line.includes(quote));
}

function spanOf(line: DocumentLine): Span {
  return { startLine: line.startLine, startColumn: line.startColumn, endLine: line.endLine, endColumn: line.endColumn };
}
