import type { JsonObject } from '../../policy/contracts/canonical-json';
import type { Plan } from '../../policy/contracts/plan';
import { assembleAnswered, type RawOutcome } from '../../policy/decide/findings';
import type { LedgerEntry } from '../../policy/evidence/ledger-port';
import type { UnitResults } from '../review-types';

/** Raw results, as the assembly of findings takes them. */
export function outcomesOf(results: UnitResults): ReadonlyMap<string, RawOutcome> {
  return new Map(Object.entries(results).map(([id, result]) => [id, { kind: 'result', result }]));
}

/** What made the findings: the opening, one unit of the plan, or the dry run with this hash. */
type FindingsStep = 'opening' | `unit:${string}` | `staged:${string}`;

/**
 * One ledger row with the findings of a step, in declared order; empty if the step has no findings. A step that is repeated writes
 * no second row. The row of a dry run is appended together with its row `staged`.
 */
export function findingRows(
  plan: Plan,
  changeId: string,
  step: FindingsStep,
  results: UnitResults,
  at: string,
): LedgerEntry[] {
  const findings = assembleAnswered({ plan, changeId, outcomes: outcomesOf(results) }).map(
    // A finding is plain JSON by its schema.
    ({ phase, ...report }) => ({ ...report, detectedAt: phase }) as JsonObject,
  );
  return findings.length === 0 ? [] : [{ kind: 'findings', at, factKey: `findings:${step}`, body: { findings } }];
}
