import { shown } from './shown-name';

/** A table as a text or a claim names it, in PostgreSQL's own spelling. */
export interface TableName {
  /** Null where no schema is named. */
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
 * Reads `orders`, `public.orders`, `"Odd".Name` as PostgreSQL folds names: unquoted to lower case (ASCII), quoted as written, cut
 * at 63 bytes. A leading database name is dropped. Null where it is no name.
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

/** Cuts whole characters, as the server's multibyte clipping does. */
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
