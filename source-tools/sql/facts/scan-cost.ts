import { isOperator, Tok, type Tokens } from './lexer';

/** Limit for the staged text, and separately for all SQL inside its strings. A token costs about 4 µs to parse and walk. */
export const MAX_TOKENS = 60_000;
/** Limit for repeated steps of PostgreSQL's scanner, at about 5 ns each. */
const MAX_RESCANS = 20_000_000;

/**
 * PostgreSQL's scanner reads a full run of operator characters, then pushes back all but the first two if a comment starts inside
 * it, or all but one if it ends in plus or minus. This is quadratic: a megabyte of slash-star pairs takes minutes. Returns the
 * offset at which the estimated cost exceeds the limit, or null. Runs in linear time.
 */
export function rescansTooMuchAt(bytes: Uint8Array, tokens: Tokens): number | null {
  let cost = 0;
  let run = 0;
  for (let i = bytes.length - 1; i >= 0; i--) {
    run = isOperator(bytes[i]) ? run + 1 : 0;
    // Each comment that starts here makes the scanner read the rest of the run and push it back.
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
