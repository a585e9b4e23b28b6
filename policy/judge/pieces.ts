import { lineBytes, type JudgeDocument } from './document';

/** The part of a document for one call: lines `first` to `last` (zero-based, inclusive), preceded by the `context` lines. */
export interface Piece {
  readonly first: number;
  readonly last: number;
  readonly context: readonly number[];
}

/** Whether the request for the piece contains the line that is marked `number`, counted from 1. */
export function isShown(piece: Piece, number: number): boolean {
  const index = number - 1;
  return (index >= piece.first && index <= piece.last) || piece.context.includes(index);
}

export type Split =
  | { readonly ok: true; readonly pieces: readonly Piece[]; readonly bytes: number }
  /** Exceeds the limits: no call is made, and a person must answer (`judge_coverage`). */
  | { readonly ok: false; readonly reason: string; readonly bytes: number };

/**
 * Splits a document greedily, only at borders, so that no statement, hunk or member is divided. The pieces cover every
 * line once, in order. Refuses if one part between two borders exceeds the budget or more than `maxPieces` are needed, and if the
 * borders of a tool's own renderer leave lines out.
 */
export function splitDocument(document: JudgeDocument, byteBudget: number, maxPieces: number): Split {
  const { lines } = document;
  const sizes = lines.map(lineBytes);
  const bytes = sizes.reduce((a, b) => a + b, 0);
  if (bytes <= byteBudget) return { ok: true, bytes, pieces: [{ first: 0, last: lines.length - 1, context: [] }] };

  const borders = document.borders();
  const starts = borders.map(({ line }) => line);
  if (starts[0] !== 0 || starts.some((line, i) => line < (starts[i - 1] ?? 0)))
    return { ok: false, bytes, reason: 'the renderer of the source tool gives no valid places to split it' };
  const pieces: Piece[] = [];
  let open: { first: number; context: readonly number[]; size: number } | null = null;
  for (const [i, border] of borders.entries()) {
    const next = borders[i + 1]?.line ?? lines.length;
    const size = sum(sizes, border.line, next);
    const context = border.context;
    const head = context.reduce((total, line) => total + (sizes[line] ?? 0), 0);
    if (head + size > byteBudget) {
      return {
        ok: false,
        bytes,
        reason: `lines ${border.line + 1} to ${next} cannot be split and need ${head + size} bytes, more than the budget of ${byteBudget}`,
      };
    }
    if (open !== null && open.size + size <= byteBudget) {
      open.size += size;
      continue;
    }
    if (open !== null) pieces.push({ first: open.first, last: border.line - 1, context: open.context });
    open = { first: border.line, context, size: head + size };
  }
  if (open !== null) pieces.push({ first: open.first, last: lines.length - 1, context: open.context });
  if (pieces.length > maxPieces)
    return {
      ok: false,
      bytes,
      reason: `${bytes} bytes need ${pieces.length} calls, more than the ${maxPieces} that the plan allows`,
    };
  return { ok: true, bytes, pieces };
}

function sum(sizes: readonly number[], from: number, to: number): number {
  let total = 0;
  for (let i = from; i < to; i++) total += sizes[i] ?? 0;
  return total;
}
