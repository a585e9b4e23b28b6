import { decodeUtf8 } from '../../../policy/text/utf8';

/** The lines of a patch without what git does not apply: text before it, blob ids, headings of hunks. Null if it is not UTF-8. */
export function normalizedPatch(raw: Uint8Array): readonly string[] | null {
  const lines = decodeUtf8(raw)?.split('\n') ?? null;
  if (lines === null) return null;
  const first = lines.findIndex((line) => line.startsWith('diff --git ') || line.startsWith('--- '));
  return lines
    .slice(Math.max(0, first))
    .filter((line) => !line.startsWith('index '))
    .map((line) => (line.startsWith('@@ ') ? withoutHeading(line) : line));
}

function withoutHeading(line: string): string {
  const end = line.indexOf(' @@', 3);
  return end === -1 ? line : line.slice(0, end + 3);
}
