import type { FactsRefusal, Span } from '../contracts/facts';

/** Thrown within the extractor to leave a deep walk; `extractSqlFacts` returns what it holds. Crosses no border. */
export class Refused extends Error {
  constructor(readonly refusal: FactsRefusal) {
    super(refusal.message);
  }
}

export function refusal(code: string, message: string, span: Span | null): FactsRefusal {
  return { ok: false, code, message, span };
}

/** Leaves the walk with a refusal: a bound was passed. */
export function refuse(code: string, message: string, span: Span | null): never {
  throw new Refused(refusal(code, message, span));
}
