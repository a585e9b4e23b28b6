import { Tok, type Tokens } from './lexer';

/** Of the staged text, and again of all texts inside its strings together: about 4 µs each to parse and walk. */
export const MAX_TOKENS = 60_000;
/** Steps that PostgreSQL's scanner may take over again; about 5 ns each. */
export const MAX_RESCANS = 20_000_000;

const OPERATOR_SIGNS = new Uint8Array(256);
for (const sign of '~!@#^&|`?+-*/%<>=') OPERATOR_SIGNS[sign.charCodeAt(0)] = 1;

/**
 * PostgreSQL's scanner takes a whole run of operator signs at once and gives all but the first two back wherever a comment begins in
 * it, or all but one where it ends in plus or minus. A megabyte of slash-star pairs costs it minutes. Returns the offset of the run
 * that passes the bound, else null; linear itself.
 */
export function rescansTooMuchAt(bytes: Uint8Array, tokens: Tokens): number | null {
  let cost = 0;
  let run = 0;
  for (let i = bytes.length - 1; i >= 0; i--) {
    run = OPERATOR_SIGNS[bytes[i] as number] === 1 ? run + 1 : 0;
    // Each comment that begins here takes the rest of the run, and gives it back.
    if (run > 1 && bytes[i] === 47 && bytes[i + 1] === 42) cost += run;
    if (cost > MAX_RESCANS) return i;
  }
  for (let i = 0; i < tokens.count; i++) {
    if (tokens.kinds[i] !== Tok.Operator) continue;
    const start = tokens.starts[i] as number;
    const length = (tokens.ends[i] as number) - start;
    cost += length * length;
    if (cost > MAX_RESCANS) return start;
  }
  return null;
}
