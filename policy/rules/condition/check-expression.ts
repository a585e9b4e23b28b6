import { parse } from '@bufbuild/cel';
import { errorMessage } from '../../contracts/error-message';
import { patternProblem } from '../../text/pattern-problem';
import { wordList } from '../../text/word-list';

/**
 * Checks a CEL condition when the bundle is compiled.
 *
 * C1 Bounded: length, nesting, number of nodes, nested comprehensions. The library has no run-time budget, so the cost is
 *    bounded here by the shape of the expression, and in `to-cel.ts` by the size of the values.
 * C2 A comprehension iterates over a field, a literal list or another comprehension, never over a value that can grow, such
 *    as `a + a`.
 * C3 A pattern of `matches` is a literal in RE2 syntax.
 * C4 Names and functions are allowlisted, so that a misspelled one fails at compile time and not during a review.
 */
export const MAX_EXPRESSION_LENGTH = 2000;
const MAX_BRACKETS = 32;
const MAX_DEPTH = 64;
const MAX_NODES = 500;
const MAX_COMPREHENSION_NESTING = 2;

const CONDITION_NAMES = ['diff', 'metadata', 'facts', 'staging'] as const;
export type ConditionName = (typeof CONDITION_NAMES)[number];

const TYPES: ReadonlySet<string> = new Set(wordList('bool bytes double int list map null_type string type uint'));
const FUNCTIONS: ReadonlySet<string> = new Set([
  ...wordList('_&&_ _||_ !_ -_ _==_ _!=_ _<_ _<=_ _>_ _>=_ _+_ _-_ _*_ _/_ _%_ _?_:_ _[_] @in @not_strictly_false'),
  ...wordList('size contains startsWith endsWith matches int uint double string bool type dyn'),
]);

/** What an expression reads: for each name its fields, or null for the whole value. `nesting`: depth of nested comprehensions. */
export interface ExpressionUse {
  readonly reads: ReadonlyMap<ConditionName, ReadonlySet<string> | null>;
  /** `name.field` of the fields that the expression tests with `has(…)`. */
  readonly tested: ReadonlySet<string>;
  readonly nesting: number;
}

type CheckedExpression =
  { readonly ok: true; readonly use: ExpressionUse } | { readonly ok: false; readonly problem: string };

type Parsed = ReturnType<typeof parse>;
type Expr = NonNullable<Parsed['expr']>;

export function checkExpression(text: string): CheckedExpression {
  if (text.length > MAX_EXPRESSION_LENGTH)
    return refuse(`${text.length} characters exceed the limit of ${MAX_EXPRESSION_LENGTH}`);
  if (bracketDepth(text) > MAX_BRACKETS) return refuse(`brackets are nested deeper than ${MAX_BRACKETS}`);
  let parsed: Parsed;
  try {
    parsed = parse(text);
  } catch (error) {
    return refuse(error instanceof RangeError ? 'nested too deeply' : `not CEL: ${errorMessage(error)}`);
  }
  const walker = new Walker();
  try {
    if (parsed.expr !== undefined) walker.visit(parsed.expr, 0, 0, new Set());
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.message);
    throw error;
  }
  return { ok: true, use: { reads: walker.reads, tested: walker.tested, nesting: walker.nesting } };
}

function refuse(problem: string): CheckedExpression {
  return { ok: false, problem };
}

/** Depth of all brackets, including those in strings. It only has to limit the recursion of the parser. */
function bracketDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of text) {
    if ('([{'.includes(character)) deepest = Math.max(deepest, ++depth);
    else if (')]}'.includes(character)) depth -= 1;
  }
  return deepest;
}

class Refusal extends Error {}

class Walker {
  readonly reads = new Map<ConditionName, Set<string> | null>();
  readonly tested = new Set<string>();
  nesting = 0;
  #nodes = 0;

  visit(expr: Expr, depth: number, within: number, bound: ReadonlySet<string>): void {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES) throw new Refusal(`more than ${MAX_NODES} nodes`);
    if (depth > MAX_DEPTH) throw new Refusal(`nested deeper than ${MAX_DEPTH}`);
    const { exprKind } = expr;
    switch (exprKind.case) {
      case 'constExpr':
        return;
      case 'identExpr':
        return this.#name(exprKind.value.name, null, bound);
      case 'selectExpr': {
        const { operand, field, testOnly } = exprKind.value;
        if (operand?.exprKind.case === 'identExpr') {
          const { name } = operand.exprKind.value;
          if (testOnly && !bound.has(name)) this.tested.add(`${name}.${field}`);
          return this.#name(name, field, bound);
        }
        return this.#all([operand], depth, within, bound);
      }
      case 'callExpr': {
        const { function: name, target, args } = exprKind.value;
        if (!FUNCTIONS.has(name)) throw new Refusal(`unknown function "${name}"`);
        if (name === 'matches') checkPattern(args.at(-1));
        return this.#all([target, ...args], depth, within, bound);
      }
      case 'listExpr':
        return this.#all(exprKind.value.elements, depth, within, bound);
      case 'structExpr': {
        if (exprKind.value.messageName !== '') throw new Refusal(`unknown message "${exprKind.value.messageName}"`);
        const parts = exprKind.value.entries.flatMap((entry) => [
          entry.keyKind.case === 'mapKey' ? entry.keyKind.value : undefined,
          entry.value,
        ]);
        return this.#all(parts, depth, within, bound);
      }
      case 'comprehensionExpr': {
        const { iterRange, iterVar, iterVar2, accuVar, accuInit, loopCondition, loopStep, result } = exprKind.value;
        if (!isBoundedRange(iterRange))
          throw new Refusal('a comprehension must iterate over a field, a literal list or another comprehension');
        if (within + 1 > MAX_COMPREHENSION_NESTING)
          throw new Refusal(`comprehensions are nested deeper than ${MAX_COMPREHENSION_NESTING}`);
        this.nesting = Math.max(this.nesting, within + 1);
        this.#all([iterRange, accuInit], depth, within, bound);
        return this.#all(
          [loopCondition, loopStep, result],
          depth,
          within + 1,
          new Set([...bound, iterVar, iterVar2, accuVar]),
        );
      }
      default:
        throw new Refusal('an empty expression');
    }
  }

  #all(parts: readonly (Expr | undefined)[], depth: number, within: number, bound: ReadonlySet<string>): void {
    for (const part of parts) if (part !== undefined) this.visit(part, depth + 1, within, bound);
  }

  #name(name: string, field: string | null, bound: ReadonlySet<string>): void {
    if (bound.has(name) || (field === null && TYPES.has(name))) return;
    const known = CONDITION_NAMES.find((n) => n === name);
    if (known === undefined) throw new Refusal(`unknown name "${name}"; expected one of ${CONDITION_NAMES.join(', ')}`);
    const fields = this.reads.get(known);
    if (field === null || fields === null) this.reads.set(known, null);
    else this.reads.set(known, new Set([...(fields ?? []), field]));
  }
}

function isBoundedRange(expr: Expr | undefined): boolean {
  switch (expr?.exprKind.case) {
    case 'identExpr':
    case 'listExpr':
    case 'comprehensionExpr':
      return true;
    case 'selectExpr':
      return isBoundedRange(expr.exprKind.value.operand);
    case 'callExpr':
      return expr.exprKind.value.function === '_[_]' && isBoundedRange(expr.exprKind.value.args[0]);
    default:
      return false;
  }
}

function checkPattern(argument: Expr | undefined): void {
  const constant = argument?.exprKind.case === 'constExpr' ? argument.exprKind.value.constantKind : undefined;
  if (constant?.case !== 'stringValue') throw new Refusal('the pattern of matches() must be a string literal');
  const problem = patternProblem(constant.value);
  if (problem !== null && !problem.startsWith('matches the empty'))
    throw new Refusal(`the pattern of matches(): ${problem}`);
}
