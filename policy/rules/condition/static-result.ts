import { celEnv, isCelError, isCelList, isCelMap, isCelUint, parse, plan, type CelInput } from '@bufbuild/cel';
import { MAX_DIFF_BYTES } from '../../contracts/limits';
import { contradiction } from './contradiction';
import { textOf, type Expr } from './expression-text';

type Call = Extract<Expr['exprKind'], { readonly case: 'callExpr' }>['value'];

/** What is known of a subexpression before any change exists; null if nothing is. */
type Known = {
  /** The value, or an example of its type. */
  readonly value: CelInput;
  /** Whether it has this value for every change. */
  readonly exact: boolean;
  /** Bounds of a number that is not exact. */
  readonly range?: readonly [number, number];
} | null;

/** What a condition gives for the changes of one source tool, without looking at any. */
export interface StaticResult {
  /** True or false if it gives that for every change, `other` if neither for any, null if it depends on the change. */
  readonly result: boolean | 'other' | null;
  /** Parts that fail or cannot have the effect that they seem to have, in the order of the text. */
  readonly problems: readonly string[];
}

/** `when`: an expression that `checkExpression` accepts. */
export function staticResult(when: string, sourceTool: string): StaticResult {
  const { expr } = parse(when);
  if (expr === undefined) return { result: null, problems: [] };
  const inference = new Inference(sourceTool);
  const known = inference.of(expr, new Map());
  const clash = contradiction(expr);
  const problems = [...new Set([...inference.problems, ...(clash === null ? [] : [clash])])];
  if (clash !== null) return { result: false, problems };
  if (known === null) return { result: null, problems };
  if (typeof known.value !== 'boolean') return { result: 'other', problems };
  return { result: known.exact ? known.value : null, problems };
}

const NO_OVERLOAD = 'found no matching overload';
const env = celEnv();
const BOOLEAN: Known = { value: true, exact: false };
const COUNT: Known = { value: 1n, exact: false, range: [0, Number.POSITIVE_INFINITY] };
const TEXT: Known = { value: 'a', exact: false };
const OBJECT: Known = { value: {}, exact: false };

type Bound = ReadonlyMap<string, Known>;

class Inference {
  readonly problems: string[] = [];

  constructor(readonly sourceTool: string) {}

  of(expr: Expr, bound: Bound): Known {
    const { exprKind } = expr;
    switch (exprKind.case) {
      case 'constExpr':
        return exactly(expr);
      case 'identExpr': {
        const { name } = exprKind.value;
        if (bound.has(name)) return bound.get(name) ?? null;
        return NAMES.has(name) ? OBJECT : null;
      }
      case 'selectExpr':
        return this.#select(exprKind.value, bound);
      case 'callExpr':
        return this.#call(expr, exprKind.value, bound);
      case 'listExpr': {
        const elements = exprKind.value.elements.map((element) => this.of(element, bound));
        return elements.every((element) => element?.exact === true) ? exactly(expr) : { value: [], exact: false };
      }
      case 'structExpr':
        return OBJECT;
      case 'comprehensionExpr': {
        const { iterRange, iterVar, iterVar2, accuVar, accuInit, loopCondition, loopStep, result } = exprKind.value;
        if (iterRange !== undefined) this.of(iterRange, bound);
        const start = accuInit === undefined ? null : this.of(accuInit, bound);
        const accu: Known = start === null ? null : { value: start.value, exact: false };
        const inside: Bound = new Map([...bound, [iterVar, null], [iterVar2, null], [accuVar, accu]]);
        for (const part of [loopCondition, loopStep]) if (part !== undefined) this.of(part, inside);
        return result === undefined ? null : this.of(result, inside);
      }
      default:
        return null;
    }
  }

  #select(
    { operand, field, testOnly }: Extract<Expr['exprKind'], { readonly case: 'selectExpr' }>['value'],
    bound: Bound,
  ): Known {
    if (operand === undefined) return null;
    const of = this.of(operand, bound);
    if (of !== null && isScalar(of.value))
      this.problems.push(`\`${textOf(operand)}\` is ${typeText(of.value)} and has no member "${field}"`);
    if (testOnly) return BOOLEAN;
    if (operand.exprKind.case !== 'identExpr' || bound.has(operand.exprKind.value.name)) return null;
    return this.#member(`${operand.exprKind.value.name}.${field}`);
  }

  #member(path: string): Known {
    switch (path) {
      case 'diff.sourceTool':
        return { value: this.sourceTool, exact: true };
      case 'diff.diffSha':
      case 'facts.kind':
        return TEXT;
      case 'diff.bytes':
        return { value: 1n, exact: false, range: [0, MAX_DIFF_BYTES] };
      case 'facts.ok':
        return BOOLEAN;
      default:
        return null;
    }
  }

  #call(expr: Expr, call: Call, bound: Bound): Known {
    const { function: name, target, args } = call;
    const operands = [...(target === undefined ? [] : [target]), ...args];
    const known = operands.map((operand) => this.of(operand, bound));
    const parts = operands.map((operand, i) => ({ operand, known: known[i] ?? null }));
    if (name === '_&&_' || name === '_||_') return this.#logic(name === '_||_', parts);
    if (name === '_?_:_') return this.#choice(parts);
    if (name === '@not_strictly_false') return BOOLEAN;
    const [left = null, right = null] = known;
    if (left === null || (operands.length === 2 && right === null)) return RESULTS.get(name) ?? null;
    if (name === '_==_' || name === '_!=_') {
      if (kindOf(left.value) !== kindOf(right?.value)) {
        this.problems.push(
          `\`${textOf(expr)}\` compares ${typeText(left.value)} with ${typeText(right?.value)}: these are never equal`,
        );
        return { value: name === '_!=_', exact: true };
      }
    }
    const value = resultOf(expr, call, known);
    if (isCelError(value)) {
      // Another error can depend on the example.
      if (value.message.startsWith(NO_OVERLOAD))
        this.problems.push(
          `\`${textOf(expr)}\` always fails, which blocks the change: it is applied to ${parts.map((part) => typeText(part.known?.value)).join(' and ')}`,
        );
      return RESULTS.get(name) ?? null;
    }
    if (left.exact && right?.exact !== false) return { value, exact: true };
    const compared = right === null ? null : comparison(name, left, right);
    if (compared !== null) return { value: compared, exact: true };
    return name === 'size' ? COUNT : { value, exact: false };
  }

  #logic(isOr: boolean, parts: readonly { readonly operand: Expr; readonly known: Known }[]): Known {
    for (const { operand, known } of parts) this.#mustBeBoolean(operand, known);
    if (parts.some(({ known }) => known?.exact === true && known.value === isOr)) return { value: isOr, exact: true };
    // Otherwise each part that is exact has the other value, or fails.
    const exact = parts.every(({ known }) => known?.exact === true && known.value === !isOr);
    return { value: !isOr, exact };
  }

  #choice([condition, yes, no]: readonly { readonly operand: Expr; readonly known: Known }[]): Known {
    if (condition === undefined) return null;
    this.#mustBeBoolean(condition.operand, condition.known);
    if (condition.known?.exact === true) return (condition.known.value === true ? yes?.known : no?.known) ?? null;
    const [a, b] = [yes?.known ?? null, no?.known ?? null];
    return a !== null && b !== null && kindOf(a.value) === kindOf(b.value) ? { value: a.value, exact: false } : null;
  }

  #mustBeBoolean(operand: Expr, known: Known): void {
    if (known !== null && typeof known.value !== 'boolean')
      this.problems.push(`\`${textOf(operand)}\` is ${typeText(known.value)}, where true or false is needed`);
  }
}

const NAMES: ReadonlySet<string> = new Set(['diff', 'metadata', 'facts', 'staging']);

/** Types of results that do not depend on the operands. */
const RESULTS: ReadonlyMap<string, Known> = new Map<string, Known>([
  ...[
    '_==_',
    '_!=_',
    '_<_',
    '_<=_',
    '_>_',
    '_>=_',
    '!_',
    '@in',
    'contains',
    'startsWith',
    'endsWith',
    'matches',
    'bool',
  ].map((name) => [name, BOOLEAN] as const),
  ['size', COUNT],
  ['string', TEXT],
]);

function exactly(expr: Expr): Known {
  const value = plan(env, expr)();
  return isCelError(value) ? null : { value: value as CelInput, exact: true };
}

/** The result of the call with the values or examples of its operands. */
function resultOf(expr: Expr, call: Call, known: readonly Known[]): CelInput | ReturnType<ReturnType<typeof plan>> {
  const names = known.map((_, i) => ({ ...expr, exprKind: { case: 'identExpr', value: { name: `v${i}` } } }) as Expr);
  const [target, args] = call.target === undefined ? [undefined, names] : [names[0], names.slice(1)];
  const applied = { ...expr, exprKind: { case: 'callExpr', value: { ...call, target, args } } } as Expr;
  return plan(env, applied)(Object.fromEntries(known.map((each, i) => [`v${i}`, each?.value ?? null])));
}

/** The result of a comparison of numbers that follows from their bounds. */
function comparison(name: string, left: NonNullable<Known>, right: NonNullable<Known>): boolean | null {
  const [a, b] = [rangeOf(left), rangeOf(right)];
  if (a === null || b === null) return null;
  const [less, more] = [a[1] < b[0], a[0] > b[1]];
  switch (name) {
    case '_<_':
      return less ? true : a[0] >= b[1] ? false : null;
    case '_<=_':
      return a[1] <= b[0] ? true : more ? false : null;
    case '_>_':
      return more ? true : a[1] <= b[0] ? false : null;
    case '_>=_':
      return a[0] >= b[1] ? true : less ? false : null;
    case '_==_':
      return less || more ? false : null;
    case '_!=_':
      return less || more ? true : null;
    default:
      return null;
  }
}

function rangeOf({ value, exact, range }: NonNullable<Known>): readonly [number, number] | null {
  if (range !== undefined) return range;
  return exact && kindOf(value) === 'number' ? [Number(value), Number(value)] : null;
}

type Kind = 'number' | 'text' | 'bytes' | 'boolean' | 'null' | 'list' | 'map' | 'other';

function kindOf(value: unknown): Kind {
  if (value === null) return 'null';
  if (typeof value === 'bigint' || typeof value === 'number' || isCelUint(value)) return 'number';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return 'boolean';
  if (value instanceof Uint8Array) return 'bytes';
  if (Array.isArray(value) || isCelList(value)) return 'list';
  return isCelMap(value) || Object.getPrototypeOf(value) === Object.prototype ? 'map' : 'other';
}

function isScalar(value: unknown): boolean {
  return ['number', 'text', 'bytes', 'boolean', 'null'].includes(kindOf(value));
}

function typeText(value: unknown): string {
  const kind = kindOf(value);
  if (kind === 'number') return typeof value === 'number' ? 'a number with a fraction' : 'a whole number';
  const names = {
    text: 'text',
    bytes: 'bytes',
    boolean: 'true or false',
    null: 'null',
    list: 'a list',
    map: 'an object',
  };
  return kind === 'other' ? 'another value' : names[kind];
}
