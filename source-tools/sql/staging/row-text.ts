/** A longer row is not sent in full, because it might not fit into memory. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/**
 * SQL expression for the row `alias` with each value as the server writes it. Calls the output function of each type and nothing
 * else of the target, in particular no cast. The star is there so that it does not refer to a column named like the alias.
 */
export function rowSql(alias: string): string {
  return `pg_catalog.left(pg_catalog.textin(pg_catalog.record_out(${alias}.*)), ${MAX_CHARACTERS})`;
}

/**
 * JSON object of the columns of a row that {@link rowSql} returned: a string or null each. Null if there is no row, or if the row was
 * cut or has another number of columns. The server writes `(1,,"a ""b""")`: NULL is empty, and in a quoted value `"` and `\\` are doubled
 * (https://www.postgresql.org/docs/18/rowtypes.html#ROWTYPES-IO-SYNTAX).
 */
export function rowText(written: string | null, columns: readonly string[]): string | null {
  if (written === null) return null;
  const values: [string, string | null][] = [];
  let at = 0;
  for (const column of columns) {
    if (written.charCodeAt(at) !== (values.length === 0 ? OPEN : COMMA)) return null;
    const start = at + 1;
    at = fieldEnd(written, start);
    values.push([column, fieldValue(written.slice(start, at))]);
  }
  // The parenthesis of a row without columns was not read above.
  if (written.slice(columns.length === 0 ? 1 : at) !== ')') return null;
  return JSON.stringify(Object.fromEntries(values));
}

function fieldValue(field: string): string | null {
  if (field === '') return null;
  return field.startsWith('"') ? field.slice(1, -1).replaceAll(DOUBLED, '$1') : field;
}

const DOUBLED = /(["\\])\1/g;

/** Position after the field that begins at `at`. */
function fieldEnd(text: string, at: number): number {
  const quoted = text.charCodeAt(at) === QUOTE;
  for (let i = quoted ? at + 1 : at; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (!quoted && (c === COMMA || c === CLOSE)) return i;
    if (quoted && c === QUOTE && text.charCodeAt(i + 1) !== QUOTE) return i + 1;
    if (quoted && (c === QUOTE || c === BACKSLASH)) i++;
  }
  return text.length;
}

const QUOTE = 34;
const OPEN = 40;
const CLOSE = 41;
const COMMA = 44;
const BACKSLASH = 92;

/** The columns of a row ({@link rowText}). */
export function columnsOf(row: string): Map<string, string | null> {
  return new Map(Object.entries(JSON.parse(row) as Record<string, string | null>));
}
