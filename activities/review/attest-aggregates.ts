import { isAggregate } from '../../policy/contracts/readings';
import type { JsonObject, JsonValue } from '../../policy/contracts/canonical-json';
import type { ValidatorResult } from '../../policy/contracts/finding';
import type { Plan } from '../../policy/contracts/plan';
import { givenToAggregate } from '../../policy/evidence/attested-given';
import type { Ledger, LedgerEntry } from '../../policy/evidence/ledger-port';
import { aggregateResult } from '../../policy/rules/aggregate/aggregate';
import type { Measure } from '../../policy/rules/aggregate/measure';
import { attest, type Attestor } from '../attestation';
import type { OpenedChange } from './opened-change';
import { aggregateConfigOf, readAggregateRecord } from './aggregate-record';

interface AggregateDeps {
  /** Must belong to the transaction under the advisory locks of opening-locks.ts (G1). */
  readonly ledger: Pick<Ledger, 'openedBefore' | 'readKinds'>;
  readonly attestor: Attestor;
}

/**
 * Evaluates and signs each of the plan's limits over many changes. Returns nothing if the plan has no such limit and the change
 * was therefore not measured.
 *
 * G1 Runs under the same locks as the append of the row `submitted`: of two concurrent changes, the second counts the first.
 * G2 Runs once for each change: a retry of the opening returns the results that were recorded first.
 */
export async function attestAggregates(
  { ledger, attestor }: AggregateDeps,
  plan: Plan,
  ref: OpenedChange,
  change: { readonly requester: string | null; readonly own: Measure | null; readonly supersedes: string | null },
  at: string,
): Promise<{ readonly results: Readonly<Record<string, ValidatorResult>>; readonly rows: readonly LedgerEntry[] }> {
  const { own } = change;
  if (own === null) return { results: {}, rows: [] };
  const results: Record<string, ValidatorResult> = {};
  const rows: LedgerEntry[] = [];
  const { changeId, inputSha, tenant, target, sourceTool } = ref;
  for (const validator of plan.validators.filter(isAggregate)) {
    const summed = { tenant, target, sourceTool, requester: change.requester, openedAt: at, own };
    const config = aggregateConfigOf(validator);
    const record = await readAggregateRecord(ledger, changeId, config, summed, change.supersedes);
    const result = aggregateResult(validator.id, changeId, config, record);
    results[validator.id] = result;
    const attestation = {
      kind: 'aggregate' as const,
      subject: validator.id,
      logicHash: validator.logic_hash,
      stagingSha: null,
      given: givenToAggregate({ changeId, inputSha, record }),
      result: result as unknown as JsonValue,
      record: record as unknown as JsonObject,
    };
    rows.push(attest(attestor, ref, attestation, at));
  }
  return { results, rows };
}
