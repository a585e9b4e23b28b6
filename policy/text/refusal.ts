import type { FactsRefusal, Span } from '../contracts/facts';

/** Thrown inside an extractor to leave a deep recursion. The extractor catches it and returns `refusal`. */
export class Refused extends Error {
  constructor(readonly refusal: FactsRefusal) {
    super(refusal.message);
  }
}

export function refusal(code: string, message: string, span: Span | null): FactsRefusal {
  return { ok: false, code, message, span };
}

/** Throws Refused, to leave a deep recursion. */
export function refuse(code: string, message: string, span: Span | null): never {
  throw new Refused(refusal(code, message, span));
}
