/** Where a secret stands in a text, in UTF-16 units. The text between is never copied out of here. */
export interface SecretSpan {
  /** snake_case: what it is, as far as its form tells. */
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

/** Spans in order of their start, none overlapping: of overlapping ones the union, with the kind of the first. */
export function disjoint(spans: readonly SecretSpan[]): SecretSpan[] {
  const result: SecretSpan[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = result.at(-1);
    if (last === undefined || span.start >= last.end) result.push(span);
    else if (span.end > last.end) result[result.length - 1] = { ...last, end: span.end };
  }
  return result;
}
