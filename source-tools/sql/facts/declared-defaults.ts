import { Tok, punctuationOf, wordOf } from './lexer';
import type { Tree } from './parser';
import type { Source } from './source';
import { child, nodeOf, text, typedList } from './tree';

interface DeclaredDefault {
  /** Byte offset in the body. */
  readonly start: number;
  readonly expression: string;
}

/**
 * Default values of variables that are missing from the tree of a PL/pgSQL body, read from its text. The parser omits the default of a
 * record, and treats every type that it does not know as a record.
 */
export function missingDefaults(functions: readonly Tree[], body: Source): readonly DeclaredDefault[] {
  const known = new Set(
    functions
      .flatMap((item) => typedList(nodeOf(item), 'datums'))
      .map(({ node }) => text(child(child(node, 'default_val'), 'PLpgSQL_expr'), 'query')),
  );
  return declaredDefaults(body).filter(({ expression }) => !known.has(expression));
}

const MARKS: ReadonlySet<string> = new Set([':=', '=']);

/** Default values in all DECLARE sections. A column named `declare` also starts one, which only adds expressions. */
function declaredDefaults(body: Source): readonly DeclaredDefault[] {
  const { bytes, tokens } = body;
  const found: DeclaredDefault[] = [];
  let inSection = false;
  for (let i = 0; i < tokens.count; i++) {
    const word = wordOf(bytes, tokens, i);
    if (word === 'declare') inSection = true;
    else if (word === 'begin') inSection = false;
    else if (inSection) {
      const first = i;
      while (i < tokens.count && punctuationOf(bytes, tokens, i) !== ';') i++;
      found.push(...defaultIn(body, first, i));
    }
  }
  return found;
}

/** The default value in a declaration, `name type := value`, from the token `first` up to the semicolon at `end`. */
function defaultIn({ bytes, tokens }: Source, first: number, end: number): readonly DeclaredDefault[] {
  let depth = 0;
  for (let i = first + 1; i < end - 1; i++) {
    const mark = punctuationOf(bytes, tokens, i);
    if (mark === '(' || mark === '[') depth++;
    else if (mark === ')' || mark === ']') depth--;
    if (depth > 0) continue;
    const word = wordOf(bytes, tokens, i);
    // The query of a cursor is in the tree.
    if (word === 'cursor' && (i === first + 1 || wordOf(bytes, tokens, i - 1) === 'scroll')) return [];
    const start = tokens.starts[i] as number;
    const token = new TextDecoder().decode(bytes.subarray(start, tokens.ends[i]));
    const isOperator = tokens.kinds[i] === Tok.Operator && (token === ':=' || token.startsWith('='));
    if (word === 'default' || isOperator) {
      // In `=-1` the sign belongs to the value.
      const from = isOperator && !MARKS.has(token) ? start + 1 : (tokens.starts[i + 1] as number);
      return [{ start: from, expression: new TextDecoder().decode(bytes.subarray(from, tokens.ends[end - 1])) }];
    }
  }
  return [];
}
