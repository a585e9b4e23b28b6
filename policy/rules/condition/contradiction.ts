import { wholeText, type Expr } from './expression-text';

/** What the parts of a conjunction demand of one value. */
interface Demands {
  low: number;
  lowIsOpen: boolean;
  high: number;
  highIsOpen: boolean;
  readonly texts: Set<string>;
}

/** Comparisons with a constant, joined by `&&`, that no value fulfils, such as `rows > 10 && rows < 5`; null if there are none. */
export function contradiction(expr: Expr): string | null {
  const demands = new Map<string, Demands>();
  for (const part of conjunctsOf(expr)) {
    const compared = comparisonOf(part);
    if (compared === null) continue;
    const { of, operator, constant } = compared;
    const known = demands.get(of) ?? {
      low: -Infinity,
      lowIsOpen: false,
      high: Infinity,
      highIsOpen: false,
      texts: new Set(),
    };
    demands.set(of, known);
    demand(known, operator, constant);
    if (isImpossible(known)) return `no value of \`${of}\` fulfils all of the comparisons`;
  }
  return null;
}

function conjunctsOf(expr: Expr): Expr[] {
  const { exprKind } = expr;
  if (exprKind.case !== 'callExpr' || exprKind.value.function !== '_&&_') return [expr];
  return exprKind.value.args.flatMap(conjunctsOf);
}

const MIRRORED: Readonly<Record<string, string>> = {
  '_<_': '_>_',
  '_<=_': '_>=_',
  '_>_': '_<_',
  '_>=_': '_<=_',
  '_==_': '_==_',
};

interface Comparison {
  readonly of: string;
  readonly operator: string;
  readonly constant: number | string;
}

function comparisonOf({ exprKind }: Expr): Comparison | null {
  if (exprKind.case !== 'callExpr') return null;
  const { function: operator, args } = exprKind.value;
  const mirrored = MIRRORED[operator];
  const [left, right] = args;
  if (mirrored === undefined || left === undefined || right === undefined) return null;
  const [a, b] = [constantOf(left), constantOf(right)];
  const of = wholeText(a === null ? left : right);
  if (of === null) return null;
  if (a === null && b !== null) return { of, operator, constant: b };
  return a !== null && b === null ? { of, operator: mirrored, constant: a } : null;
}

/** A number or text that is written in the expression. */
function constantOf({ exprKind }: Expr): number | string | null {
  if (exprKind.case !== 'constExpr') return null;
  const { case: kind, value } = exprKind.value.constantKind;
  if (kind === 'stringValue' || kind === 'doubleValue') return value;
  return kind === 'int64Value' || kind === 'uint64Value' ? Number(value) : null;
}

function demand(known: Demands, operator: string, constant: number | string): void {
  if (typeof constant === 'string') {
    if (operator === '_==_') known.texts.add(constant);
    return;
  }
  if (operator !== '_<_' && operator !== '_<=_') raise(known, constant, operator === '_>_');
  if (operator !== '_>_' && operator !== '_>=_') lower(known, constant, operator === '_<_');
}

function raise(known: Demands, low: number, isOpen: boolean): void {
  if (low < known.low) return;
  known.lowIsOpen = isOpen || (low === known.low && known.lowIsOpen);
  known.low = low;
}

function lower(known: Demands, high: number, isOpen: boolean): void {
  if (high > known.high) return;
  known.highIsOpen = isOpen || (high === known.high && known.highIsOpen);
  known.high = high;
}

function isImpossible({ low, lowIsOpen, high, highIsOpen, texts }: Demands): boolean {
  return texts.size > 1 || low > high || (low === high && (lowIsOpen || highIsOpen));
}
