import type { Tree } from './parser';
import { list, nameAt, text, typed } from './tree';

/** True if one operand of an OR negates another: `x IS NULL OR x IS NOT NULL`, `p OR NOT p`, `a > b OR a <= b`. */
export function complementary(args: readonly unknown[]): boolean {
  // All pairs are compared, so the number of operands is bounded.
  if (args.length > 50) return false;
  const keys = args.map(literal);
  return keys.some(
    (a, i) => a.key !== null && keys.some((b, j) => j > i && a.key === b.key && a.negative !== b.negative),
  );
}

interface Literal {
  readonly key: string | null;
  readonly negative: boolean;
}

function literal(arg: unknown): Literal {
  const e = typed(arg);
  if (e?.type === 'NullTest')
    return { key: `null ${key(e.node['arg']) ?? ''}`, negative: text(e.node, 'nulltesttype') === 'IS_NOT_NULL' };
  if (e?.type === 'BoolExpr' && text(e.node, 'boolop') === 'NOT_EXPR') {
    const inner = typed(list(e.node, 'args')[0]);
    const plain =
      inner?.type === 'A_Expr' ? comparison(inner.node) : { key: key(list(e.node, 'args')[0]), negative: false };
    return { ...plain, negative: !plain.negative };
  }
  return e?.type === 'A_Expr' ? comparison(e.node) : { key: key(arg), negative: false };
}

/** `a <= b` negates `a > b`: both get the same key and differ in `negative`. */
function comparison(node: Tree): Literal {
  const operator = nameAt(node, 'name').name;
  const opposite = text(node, 'kind') === 'AEXPR_OP' ? OPPOSITES[operator] : undefined;
  return opposite === undefined
    ? { key: key([operator, text(node, 'kind'), node['lexpr'], node['rexpr']]), negative: false }
    : { key: key([opposite, 'AEXPR_OP', node['lexpr'], node['rexpr']]), negative: true };
}

const OPPOSITES: Readonly<Record<string, string>> = { '<=': '>', '>=': '<', '<>': '=', '!=': '=' };

/** Serialized tree without locations. Null if it has more than 400 nodes, so nested conditions are processed in linear time. */
function key(value: unknown): string | null {
  let room = 400;
  const write = (v: unknown): string => {
    if (room-- <= 0) return '';
    if (Array.isArray(v)) return `[${v.map(write).join()}]`;
    if (typeof v !== 'object' || v === null) return JSON.stringify(v) ?? '';
    return `{${Object.keys(v)
      .filter((k) => k !== 'location')
      .map((k) => `${k}:${write((v as Tree)[k])}`)
      .join()}}`;
  };
  const written = write(value);
  return room <= 0 || value === undefined ? null : written;
}
