import { unparse, type parse } from '@bufbuild/cel';

export type Expr = NonNullable<ReturnType<typeof parse>['expr']>;

const MAX_SNIPPET = 80;

/** The text of a part, for messages: shortened, and a placeholder for one with a comprehension. */
export function textOf(expr: Expr): string {
  const text = wholeText(expr) ?? '…';
  return text.length <= MAX_SNIPPET ? text : `${text.slice(0, MAX_SNIPPET - 1)}…`;
}

/** The text of a part; null for one with a comprehension, which the library does not write. */
export function wholeText(expr: Expr): string | null {
  return hasComprehension(expr) ? null : unparse(expr);
}

function hasComprehension({ exprKind }: Expr): boolean {
  const some = (parts: readonly (Expr | undefined)[]): boolean =>
    parts.some((part) => part !== undefined && hasComprehension(part));
  switch (exprKind.case) {
    case 'comprehensionExpr':
      return true;
    case 'selectExpr':
      return some([exprKind.value.operand]);
    case 'callExpr':
      return some([exprKind.value.target, ...exprKind.value.args]);
    case 'listExpr':
      return some(exprKind.value.elements);
    case 'structExpr':
      return some(exprKind.value.entries.map((entry) => entry.value));
    default:
      return false;
  }
}
