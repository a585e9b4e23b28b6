import type { JsonObject } from '../../policy/contracts/canonical-json';
import type { Plan } from '../../policy/contracts/plan';
import { assembleAnswered } from '../../policy/decide/findings';
import type { LedgerEntry } from '../../policy/evidence/ledger-port';
import type { UnitResults } from '../review-types';

/** One ledger row for each finding, the GuardianReport of G12. A retry finds its rows standing. */
export function findingRows(
  plan: Plan,
  changeId: string,
  results: UnitResults,
  at: string,
  actor: string,
): LedgerEntry[] {
  const outcomes = new Map(Object.entries(results).map(([id, result]) => [id, { kind: 'result', result } as const]));
  return assembleAnswered({ plan, changeId, outcomes }).map((finding) => {
    const { phase, ...report } = finding;
    // A finding is plain JSON by its schema.
    return {
      kind: 'findings',
      at,
      actor,
      factKey: `finding:${finding.validator_id}`,
      body: { ...report, detectedAt: phase } as JsonObject,
    };
  });
}
