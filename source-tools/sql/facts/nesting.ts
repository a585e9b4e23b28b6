import { Tok, punctuationOf, wordOf } from './lexer';
import type { Source } from './source';
import { wordList } from '../../../policy/text/word-list';

/** Deeper text is refused before parsing. The parser's own limit is the stack size, which differs between hosts. */
const MAX_NESTING = 1000;

const CHAINING_WORDS = new Set(
  wordList(`
  not is isnull notnull collate at union intersect except join like ilike similar in between select explain operator
  array row from escape
`),
);
const SIBLING_WORDS = new Set(['and', 'or', 'when', 'then', 'else', 'values', 'set', 'returning', 'loop']);

/**
 * Estimates an upper bound of the parse tree's depth from tokens alone: brackets and CASE nest, operators chain (`1+1+1` is a tree
 * of depth three), and commas, semicolons, AND and OR start a sibling. Returns the offset at which the estimate exceeds
 * `MAX_NESTING`, or null.
 */
export function tooDeepAt(source: Source, plpgsql = false): number | null {
  const { tokens, bytes } = source;
  // Stack of open brackets: `(`, `[`, `c` for CASE, `b` for a PL/pgSQL block. `chain` counts operators at the current level.
  const stack: { readonly kind: string; readonly chain: number }[] = [];
  let outer = 0;
  let chain = 0;
  for (let i = 0; i < tokens.count; i++) {
    const kind = tokens.kinds[i];
    if (kind === Tok.Operator) chain++;
    else if (kind === Tok.Punctuation) {
      const mark = punctuationOf(bytes, tokens, i);
      if (mark === '(' || mark === '[') open(mark);
      else if (mark === ')' || mark === ']') close();
      else if (mark === ',' || mark === ';') chain = 0;
    } else if (kind === Tok.Word) {
      const word = wordOf(bytes, tokens, i);
      if (CHAINING_WORDS.has(word)) chain++;
      else if (SIBLING_WORDS.has(word)) chain = 0;
      if (word === 'case') {
        if (wordOf(bytes, tokens, i - 1) !== 'end') open('c');
      } else if (word === 'end') {
        if (stack.at(-1)?.kind === 'c' || stack.at(-1)?.kind === 'b') close();
      } else if (
        plpgsql &&
        (word === 'begin' || word === 'if' || word === 'loop') &&
        wordOf(bytes, tokens, i - 1) !== 'end'
      )
        open('b');
    }
    if (outer + chain + stack.length > MAX_NESTING) return tokens.starts[i] as number;
  }
  return null;

  function open(kind: string): void {
    stack.push({ kind, chain });
    outer += chain;
    chain = 0;
  }
  function close(): void {
    const top = stack.pop();
    if (top === undefined) return;
    outer -= top.chain;
    // Continue the chain around the bracket: f(x)(y) stays deep, (1)+(1) counts its operator.
    chain = top.chain;
  }
}
