import { shown } from './shown-name';

/** A table name from the diff or a claim, after PostgreSQL's case folding. */
export interface TableName {
  /** Null if the name has no schema. */
  readonly schema: string | null;
  readonly name: string;
}

/** `"public"."orders"`, for reasons and messages. */
export function shownName({ schema, name }: TableName): string {
  return schema === null ? shown(name) : `${shown(schema)}.${shown(name)}`;
}

/** NAMEDATALEN − 1, in bytes of UTF-8. */
const MAX_NAME_BYTES = 63;

/**
 * Parses `orders`, `public.orders` or `"Odd".Name` like PostgreSQL: unquoted names are converted to lower case (ASCII), quoted
 * names are kept, and both are truncated to 63 bytes. A leading database name is dropped. Null if the text is not a valid name.
 */
export function parseName(text: string): TableName | null {
  const parts: string[] = [];
  let i = 0;
  for (;;) {
    let part = '';
    if (text[i] === '"') {
      for (i++; ; i++) {
        if (i >= text.length) return null;
        if (text[i] !== '"') part += text[i];
        else if (text[i + 1] === '"') part += text[i++];
        else break;
      }
      i++;
    } else {
      const start = i;
      while (i < text.length && text[i] !== '.' && text[i] !== '"') i++;
      part = foldCase(text.slice(start, i).trim());
    }
    if (part === '') return null;
    parts.push(cut(part));
    if (i >= text.length) break;
    if (text[i] !== '.') return null;
    i++;
  }
  const name = parts.at(-1);
  return name === undefined || parts.length > 3 ? null : { schema: parts.at(-2) ?? null, name };
}

function foldCase(text: string): string {
  let out = '';
  for (const character of text) out += character >= 'A' && character <= 'Z' ? character.toLowerCase() : character;
  return out;
}

/** Truncates at a character boundary, like the server's multibyte truncation. */
function cut(name: string): string {
  let bytes = 0;
  let out = '';
  for (const character of name) {
    const code = character.codePointAt(0) as number;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes > MAX_NAME_BYTES) break;
    out += character;
  }
  return out;
}

/** The name of a table that may be any: a change that reaches tables without naming them. */
export const ANY_TABLE = '*';
