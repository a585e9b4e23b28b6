import { hasSqlDetails, loadModule, parsePlPgSQLSync, parseSync } from 'libpg-query';

/** A node of the parser's JSON tree. */
export type Tree = { readonly [key: string]: unknown };

export interface RawStatement {
  readonly stmt: Tree;
  /** UTF-8 byte offset. Whitespace and comments before the statement are included. */
  readonly location: number;
  /** Bytes. Null for the last statement, which extends to the end of the text. */
  readonly length: number | null;
}

type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  /** `offset` counts UTF-8 bytes; null if the parser reports none. `syntax`: the text is invalid. `failed`: the parser itself failed. */
  | {
      readonly ok: false;
      readonly kind: 'syntax' | 'failed';
      readonly message: string;
      readonly offset: number | null;
    };

/** Loads the WebAssembly module once. Throws if it is missing, which is an infrastructure error and not a result of the text. */
export async function loadParser(): Promise<void> {
  await loadModule();
}

export function parseStatements(text: string): Parsed<readonly RawStatement[]> {
  return parseGuarded(text, () => {
    const { stmts } = parseSync(text) as unknown as {
      stmts?: readonly { stmt?: Tree; stmt_location?: number; stmt_len?: number }[];
    };
    return (stmts ?? []).map((s) => ({
      stmt: s.stmt ?? {},
      location: s.stmt_location ?? 0,
      length: s.stmt_len ?? null,
    }));
  });
}

/** `text` is one DO, CREATE FUNCTION or CREATE PROCEDURE statement. The tree has no offsets, only line numbers of the body. */
export function parsePlpgsqlBody(text: string): Parsed<readonly Tree[]> {
  return parseGuarded(text, () => {
    const { plpgsql_funcs: functions } = parsePlPgSQLSync(text) as unknown as { plpgsql_funcs?: readonly Tree[] };
    return functions ?? [];
  });
}

function parseGuarded<T>(text: string, parse: () => T): Parsed<T> {
  try {
    return { ok: true, value: parse() };
  } catch (error) {
    if (!hasSqlDetails(error)) {
      // A stack overflow or a failure inside the module. Its message differs between hosts, so a fixed one is returned.
      return { ok: false, kind: 'failed', message: 'The PostgreSQL parser failed on this text', offset: null };
    }
    const message = error.message;
    // cursorPosition counts code points, like PostgreSQL's error position.
    const position = error.sqlDetails?.cursorPosition;
    return { ok: false, kind: 'syntax', message, offset: position === undefined ? null : byteOffset(text, position) };
  }
}

function byteOffset(text: string, characters: number): number {
  let seen = 0;
  let bytes = 0;
  for (const character of text) {
    if (seen++ >= characters) break;
    const code = character.codePointAt(0) as number;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
