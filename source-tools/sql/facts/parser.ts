import { hasSqlDetails, loadModule, parsePlPgSQLSync, parseSync } from 'libpg-query';

/** A node of the parser's tree, as its JSON has it. */
export type Tree = { readonly [key: string]: unknown };

export interface RawStatement {
  readonly stmt: Tree;
  /** UTF-8 byte offset; blanks and comments before the statement belong to it. */
  readonly location: number;
  /** Null for the last statement: to the end of the text. */
  readonly length: number | null;
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  /** `offset` counts UTF-8 bytes; null where the parser names none. `syntax`: a verdict on the text. `failed`: the parser itself gave up. */
  | {
      readonly ok: false;
      readonly kind: 'syntax' | 'failed';
      readonly message: string;
      readonly offset: number | null;
    };

/** Loads the WebAssembly module once. Throws where it is missing: an infrastructure error, not a verdict. */
export async function loadParser(): Promise<void> {
  await loadModule();
}

export function parseStatements(text: string): Parsed<readonly RawStatement[]> {
  return guarded(text, () => {
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

/** `text` is one DO, CREATE FUNCTION or CREATE PROCEDURE statement. Places inside are line numbers of its body only. */
export function parsePlpgsqlBody(text: string): Parsed<readonly Tree[]> {
  return guarded(text, () => {
    const { plpgsql_funcs: functions } = parsePlPgSQLSync(text) as unknown as { plpgsql_funcs?: readonly Tree[] };
    return functions ?? [];
  });
}

function guarded<T>(text: string, run: () => T): Parsed<T> {
  try {
    return { ok: true, value: run() };
  } catch (error) {
    if (!hasSqlDetails(error)) {
      // RangeError from a small stack, or the module's own failure. Its wording differs between hosts, so ours stands.
      return { ok: false, kind: 'failed', message: 'The PostgreSQL parser gave up on this text', offset: null };
    }
    const message = error.message;
    // cursorPosition counts characters (code points), as PostgreSQL's error position does.
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
