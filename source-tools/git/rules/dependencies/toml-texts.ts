/** The quotes of a text of several lines that is open; null outside such a text. */
export type OpenText = '"""' | "'''" | null;

const NEXT = /#|"""|'''|"(?:[^"\\]|\\.)*"|'[^']*'/g;
const ENDS = { '"""': /\\.|"""/g, "'''": /'''/g };

/** The text that is open after a line: https://toml.io/en/v1.0.0#string */
export function openTextAfter(line: string, open: OpenText): OpenText {
  let at = 0;
  for (;;) {
    const pattern = open === null ? NEXT : ENDS[open];
    pattern.lastIndex = at;
    const found = pattern.exec(line)?.[0];
    if (found === undefined) return open;
    if (found === '#') return null;
    at = pattern.lastIndex;
    if (open === found) open = null;
    else if (open === null && (found === '"""' || found === "'''")) open = found;
  }
}
