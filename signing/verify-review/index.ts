/**
 * Verifies a review: for the committer before it acts, for clients that show or answer it, for `countersign verify` on a file, and
 * for `countersign replay`.
 * Pure: no network, no database, no clock.
 *
 * V1 Trust comes only from the caller (`ReviewSources`): operator keys, committer keys, the registry at one moment. Nothing in
 *    the record is trusted because the record says so.
 * V2 Everything in a record must be bound to something signed or hashed, or a check fails.
 * V3 A check that throws has failed. If its input could not be established or its source is missing, it is `not_checked`, which
 *    does not count as passed.
 */
import { ReceiptPredicate } from '../../policy/contracts/outcome';
import { CHECKS, type NamedCheck } from './checks';
import { notChecked, NotChecked, rowOf } from './checking';
import type { CheckResult, Review, ReviewFacts, ReviewRecord, ReviewSources } from './record';

interface ReviewVerification {
  /** Every required check passed, and no other check failed. */
  readonly ok: boolean;
  readonly checks: readonly CheckResult[];
  readonly facts: Partial<ReviewFacts>;
}

export function verifyReview(record: ReviewRecord, sources: ReviewSources): ReviewVerification {
  const facts: Partial<ReviewFacts> = sources.keys === null ? {} : { keys: sources.keys };
  const review = reviewOf(record, sources, facts);
  const checks: CheckResult[] = [];
  for (const check of CHECKS as readonly NamedCheck[]) {
    const need = check.contexts[sources.context];
    if (need === 'required' || need === 'if_supplied') checks.push(runCheck(check, need === 'required', review, facts));
  }
  return { ok: checks.every(isMet), checks, facts };
}

/** Whether a result lets the verification pass. */
export function isMet({ result, required }: CheckResult): boolean {
  return result === 'ok' || (result === 'not_checked' && !required);
}

/** The check to report in a refusal: the first that failed, or else the first that was not made. */
export function firstUnmet(checks: readonly CheckResult[]): CheckResult | undefined {
  const unmet = checks.filter((check) => !isMet(check));
  return unmet.find(({ result }) => result === 'failed') ?? unmet[0];
}

function runCheck(check: NamedCheck, required: boolean, review: Review, facts: Partial<ReviewFacts>): CheckResult {
  const { name } = check;
  try {
    const [detail, established = {}] = check.run(review);
    Object.assign(facts, established);
    return { name, required, result: 'ok', detail };
  } catch (error) {
    const result = error instanceof NotChecked ? 'not_checked' : 'failed';
    return { name, required, result, detail: error instanceof Error ? error.message : String(error) };
  }
}

function reviewOf(record: ReviewRecord, sources: ReviewSources, facts: Partial<ReviewFacts>): Review {
  const rows = record.rows.map(({ row }) => row);
  const settled = rowOf(rows, 'intent', 'decided') ?? rows.at(-1);
  return {
    record,
    sources,
    rows,
    // The row is used even if the signature of the receipt is invalid; then the check `receipt` fails.
    end:
      record.asked === null
        ? (ReceiptPredicate.safeParse(rowOf(rows, 'receipt')?.body['predicate']).data ?? null)
        : {
            action: record.asked.ending === undefined ? 'COMMIT' : 'ROLLBACK',
            reason: record.asked.ending ?? null,
            stagingSha: record.asked.stagingSha,
          },
    at: sources.at ?? settled?.at ?? '',
    need: (fact) => {
      const value = facts[fact];
      return value === undefined ? notChecked(`not checked, since ${fact} could not be established`) : value;
    },
    known: (fact) => facts[fact] !== undefined,
    keep: (established) => void Object.assign(facts, established),
  };
}
