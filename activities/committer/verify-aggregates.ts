import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { AttestedPredicate } from '../../policy/contracts/attested';
import { isAggregate } from '../../policy/contracts/readings';
import type { Plan } from '../../policy/contracts/plan';
import { givenToAggregate, type Given } from '../../policy/evidence/attested-given';
import type { LedgerReader } from '../../policy/evidence/ledger-port';
import { AggregateRecord, aggregateResult, countsAll, type SummedChange } from '../../policy/rules/aggregate/aggregate';
import { targetUnavailable } from '../../source-tools/target-failure';
import { configOf, recordFor } from '../review/counted-changes';

/** What the record of one sum was given, where the committer believes it; null where it does not. */
export type GivenToSum = (predicate: AttestedPredicate) => Given | null;

export interface SummedSubmission {
  readonly changeId: string;
  readonly inputSha: string;
  readonly change: SummedChange;
  /** What the row `submitted` says that it weighs: what every other change counts it with. */
  readonly written: unknown;
  readonly supersedes: string | null;
}

/**
 * The committer adds up again, from its own reading of the ledger: a record that leaves out a change, weighs one too little, or
 * says another thing than its own sum does not count, whoever signed it. Throws TARGET_UNAVAILABLE, retried until the commit
 * window ends, while the change that this one supersedes is still open: it was left out of the sum, and might yet be committed.
 */
export async function givenToSums(
  ledger: Pick<LedgerReader, 'openedBefore' | 'readKinds'>,
  plan: Plan,
  { changeId, inputSha, change, written, supersedes }: SummedSubmission,
): Promise<ReadonlyMap<string, GivenToSum>> {
  const sums = new Map<string, GivenToSum>();
  for (const validator of plan.validators.filter(isAggregate)) {
    const config = configOf(validator);
    const needed = await recordFor(ledger, changeId, config, change, null);
    sums.set(validator.id, ({ record: said, result }) => {
      const parsed = AggregateRecord.safeParse(said);
      if (!parsed.success || !isSame(written, change.own)) return null;
      const record = parsed.data;
      const expected = aggregateResult(validator.id, changeId, config, record);
      return isSame(result, expected) && countsAll(record, needed)
        ? givenToAggregate({ changeId, inputSha, record })
        : null;
    });
    const replaced = needed.counted.find((c) => c.changeId === supersedes);
    if (replaced !== undefined && (await ledger.readKinds(replaced.changeId, ['closed'])).length === 0)
      throw targetUnavailable(plan.target, `the review ${replaced.changeId} that this change supersedes is still open`);
  }
  return sums;
}

function isSame(a: unknown, b: unknown): boolean {
  return canonicalJson(a ?? null) === canonicalJson(b);
}
