const MAX_CAUSES = 100;

/**
 * True if `error`, or any error in its `cause` chain or joined `errors`, has this error class. Reads `code`, and `type` for
 * an ApplicationFailure. Compares values, because `instanceof` fails across realms and after serialization. Visits at
 * most 100 errors.
 */
export function hasErrorCode(error: unknown, code: string): boolean {
  if (typeof code !== 'string') return false;
  const seen = new Set<unknown>();
  const open: unknown[] = [error];
  while (open.length > 0 && seen.size < MAX_CAUSES) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    const {
      code: ownCode,
      type,
      cause,
      errors,
    } = next as { code?: unknown; type?: unknown; cause?: unknown; errors?: unknown };
    if (ownCode === code || type === code) return true;
    open.push(cause, ...(Array.isArray(errors) ? errors : []));
  }
  return false;
}
