/** True if `after` is an older version than `before`. False if one of them has no number to compare. */
export function isOlder(after: string, before: string): boolean {
  const [a, b] = [numbersOf(after), numbersOf(before)];
  if (a === null || b === null) return false;
  for (let i = 0; i < 3; i++) {
    const [left, right] = [a[i] ?? 0, b[i] ?? 0];
    if (left !== right) return left < right;
  }
  return false;
}

/** The lowest version of a range such as `^1.2.3` or `>=2,<3`, as numbers. Null for a range without a lower bound. */
function numbersOf(range: string): readonly number[] | null {
  const match = /^[\^~>=v\s]{0,6}(\d+(?:\.\d+){0,2})/.exec(range);
  return match === null ? null : (match[1] as string).split('.').map(Number);
}
