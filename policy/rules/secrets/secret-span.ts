/** Position of a secret in a text, in UTF-16 code units. Does not contain the secret. */
export interface SecretSpan {
  /** Kind of secret in snake_case. */
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

/** The secrets that one kind of scan found. */
export interface ScannedSecrets {
  readonly spans: readonly SecretSpan[];
  /** Position at which the scan stopped at a limit; null if it scanned everything. */
  readonly unchecked: number | null;
}

/** Sorts spans and merges overlapping ones into their union, with the kind of the first. */
export function disjoint(spans: readonly SecretSpan[]): SecretSpan[] {
  const result: SecretSpan[] = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = result.at(-1);
    if (last === undefined || span.start >= last.end) result.push(span);
    else if (span.end > last.end) result[result.length - 1] = { ...last, end: span.end };
  }
  return result;
}
