import { Tok } from './lexer';
import type { Source } from './source';
import type { Collected } from './walker';

/** NAMEDATALEN − 1. The server truncates longer names and only sends a notice. */
const MAX_IDENTIFIER_BYTES = 63;
/** As many as a finding shows. */
const MAX_KEPT = 50;

/**
 * Records identifiers that the server would truncate. Reads tokens, because the tree contains truncated names. Covers top-level text
 * only. `ranges`: byte ranges of the statements, in order.
 */
export function longIdentifiers(source: Source, ranges: readonly { readonly end: number }[], facts: Collected): void {
  const { tokens, bytes } = source;
  let statement = 0;
  for (let i = 0; i < tokens.count && facts.longIdentifiers.length < MAX_KEPT; i++) {
    const kind = tokens.kinds[i];
    const start = tokens.starts[i] as number;
    const end = tokens.ends[i] as number;
    while (statement + 1 < ranges.length && start >= (ranges[statement]?.end ?? 0)) statement++;
    if (end - start <= MAX_IDENTIFIER_BYTES) continue;
    const length = kind === Tok.Word ? end - start : kind === Tok.QuotedName ? quotedBytes(bytes, start, end) : 0;
    if (length > MAX_IDENTIFIER_BYTES)
      facts.longIdentifiers.push({
        statement,
        span: source.span(start, end),
        path: `statement ${statement + 1}`,
        via: [],
        bytes: length,
      });
  }
}

/** Bytes of a quoted name after decoding: a doubled quote counts once, a Unicode escape counts as its character. */
function quotedBytes(bytes: Uint8Array, start: number, end: number): number {
  const open = bytes.indexOf(34, start) + 1;
  const text = new TextDecoder().decode(bytes.subarray(open, end - 1)).replaceAll('""', '"');
  const decoded =
    open - start > 1
      ? text.replace(
          /\\(?:\+([0-9a-fA-F]{6})|([0-9a-fA-F]{4}))/g,
          (_, long: string | undefined, short: string | undefined) =>
            fromCodePoint(Number.parseInt(long ?? short ?? '0', 16)),
        )
      : text;
  return new TextEncoder().encode(decoded).length;
}

function fromCodePoint(code: number): string {
  return code > 0x10ffff ? '' : String.fromCodePoint(code);
}
