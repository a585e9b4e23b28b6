import { isSpace } from './characters';
import { sensitiveName } from './names';

/** A string literal in a row of VALUES, and the column that it is inserted into. */
interface InsertedValue {
  readonly column: string;
  readonly start: number;
  readonly end: number;
}

const MAX_COLUMNS = 2000;
/** Longer rows are read up to here. Keeps the time linear if a row has no end. */
const MAX_ROW = 2000;
const MAX_SPACE = 200;
const ROWS = /\)\s{0,20}(?:OVERRIDING\s{1,20}(?:SYSTEM|USER)\s{1,20}VALUE\s{1,20})?VALUES\s{0,20}\(/gi;

/** The literals that `INSERT INTO t (a, password) VALUES ('x', 'y')` inserts into columns with a sensitive name. */
export function* insertedValues(text: string): Generator<InsertedValue> {
  let done = 0;
  for (const { index, 0: head } of text.matchAll(ROWS)) {
    if (index < done) continue;
    const columns = columnsBefore(text, index);
    const sensitive = columns.map((column) => sensitiveName(column) !== null);
    if (!sensitive.includes(true)) continue;
    let row: number | null = index + head.length;
    while (row !== null) {
      const { literals, end } = readRow(text, row);
      for (const { place, ...span } of literals) {
        const column = columns[place];
        if (column !== undefined && sensitive[place] === true) yield { column, ...span };
      }
      if (end !== null) done = end;
      row = end === null ? null : nextRow(text, end);
    }
  }
}

const VALUE_OF_KEY =
  /\bSET\s{1,20}"?\w{0,30}val\w{0,10}"?\s{0,5}=\s{0,5}'((?:[^']|''){1,500})'[^;']{0,200}\bWHERE\b[^;']{0,200}=\s{0,5}'([\w.:-]{3,80})'/gi;

/** The value that an UPDATE gives to a key with a sensitive name: `SET value = 'x' WHERE key = 'smtp_password'`. */
export function* valuesOfKeys(text: string): Generator<InsertedValue> {
  for (const { 0: found, 1: value = '', 2: column = '', index } of text.matchAll(VALUE_OF_KEY)) {
    if (sensitiveName(column) === null) continue;
    const start = index + found.indexOf("'") + 1;
    yield { column, start, end: start + value.length };
  }
}

/** The names in the parentheses that end at `close`. */
function columnsBefore(text: string, close: number): string[] {
  const before = text.slice(Math.max(0, close - MAX_COLUMNS), close);
  const open = before.lastIndexOf('(');
  return open === -1
    ? []
    : before
        .slice(open + 1)
        .split(',')
        .map((name) => name.replace(/[\s"`[\]]/g, ''));
}

interface Row {
  readonly literals: readonly { readonly place: number; readonly start: number; readonly end: number }[];
  /** After the closing parenthesis; null if it is not within reach. */
  readonly end: number | null;
}

/** Reads from after the opening parenthesis. Only a literal that is a whole value counts. */
function readRow(text: string, from: number): Row {
  const literals: { place: number; start: number; end: number }[] = [];
  let [place, depth] = [0, 0];
  let begins = true;
  const stop = Math.min(text.length, from + MAX_ROW);
  for (let i = from; i < stop; i++) {
    const letter = text[i] as string;
    if (isSpace(letter)) continue;
    if (letter === "'") {
      const end = endOfLiteral(text, i + 1, stop);
      const after = afterSpace(text, end + 1);
      if (begins && depth === 0 && (text[after] === ',' || text[after] === ')'))
        literals.push({ place, start: i + 1, end });
      i = end;
    } else if (letter === '(') depth++;
    else if (letter === ')' && --depth < 0) return { literals, end: i + 1 };
    const isNext = letter === ',' && depth === 0;
    if (isNext) place++;
    begins = isNext;
  }
  return { literals, end: null };
}

/** Position of the closing quote; a doubled quote is part of the literal. */
function endOfLiteral(text: string, from: number, stop: number): number {
  let i = from;
  while (i < stop && (text[i] !== "'" || text[i + 1] === "'")) i += text[i] === "'" ? 2 : 1;
  return i;
}

function afterSpace(text: string, from: number): number {
  let i = from;
  while (i - from < MAX_SPACE && isSpace(text[i])) i++;
  return i;
}

/** Start of the next row of the same VALUES; null if there is none. */
function nextRow(text: string, from: number): number | null {
  const comma = afterSpace(text, from);
  if (text[comma] !== ',') return null;
  const open = afterSpace(text, comma + 1);
  return text[open] === '(' ? open + 1 : null;
}
