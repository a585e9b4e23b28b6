import type { JsonObject } from '../../policy/contracts/canonical-json';
import type { Plan } from '../../policy/contracts/plan';
import { assembleAnswered } from '../../policy/decide/findings';
import type { LedgerEntry } from '../../policy/evidence/ledger-port';
import type { UnitResults } from '../review-types';

/**
 * One ledger row for each finding. Idempotent by `factKey`. Findings on a dry run have its `stagingSha` in the key, and the
 * caller appends them together with the row `staged`.
 */
export function findingRows(
  plan: Plan,
  changeId: string,
  results: UnitResults,
  at: string,
  stagingSha: string | null = null,
): LedgerEntry[] {
  const outcomes = new Map(Object.entries(results).map(([id, result]) => [id, { kind: 'result', result } as const]));
  return assembleAnswered({ plan, changeId, outcomes }).map((finding) => {
    const { phase, ...report } = finding;
    // A finding is plain JSON by its schema.
    return {
      kind: 'findings',
      at,
      factKey: `finding:${finding.validator_id}${stagingSha === null ? '' : `:${stagingSha}`}`,
      body: { ...report, detectedAt: phase } as JsonObject,
    };
  });
}
