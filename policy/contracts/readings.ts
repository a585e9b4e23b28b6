import type { Status, ValidatorFinding } from './finding';
import type { PlanValidator } from './plan';
import type { StagingRecord } from './staging-record';

/**
 * True for WARN, and for BLOCK, which is also the status of a validator that failed. A POLICY finding that fires must be resolved before
 * the change can commit.
 */
export function fires(finding: Pick<ValidatorFinding, 'status'>): boolean {
  return finding.status === 'WARN' || finding.status === 'BLOCK';
}

/** Implementation name of the validators that limit a sum over several changes. */
export const AGGREGATE = 'aggregate';

export function isAggregate({ implementation }: Pick<PlanValidator, 'implementation'>): boolean {
  return implementation === AGGREGATE;
}

/** True for the LLM judge: the only attested validator that runs after the dry run, and the only one that may be skipped. */
export function isJudge(validator: Pick<PlanValidator, 'kind' | 'unit' | 'implementation'>): boolean {
  return validator.kind === 'attested' && validator.unit !== 'builtin' && !isAggregate(validator);
}

/** Derived preflight validators that need no staging record. They run before the dry run executes anything. */
export function isStatic(validator: Pick<PlanValidator, 'kind' | 'needsStaging' | 'phase'>): boolean {
  return validator.kind === 'derived' && !validator.needsStaging && validator.phase === 'preflight';
}

/** Number of rows that the change touches, captured or not. Compared with the claim `affected_rows`. */
export function touchedRows(record: StagingRecord): number {
  const sum = (c: { inserted: number; updated: number; deleted: number }): number => c.inserted + c.updated + c.deleted;
  return [...record.tables, ...record.sideEffects].reduce((total, c) => total + sum(c), 0);
}

/** Number of rows that the change deletes, captured or not. */
export function deletedRows(record: StagingRecord): number {
  return [...record.tables, ...record.sideEffects].reduce((total, { deleted }) => total + deleted, 0);
}

/** One circuit-breaker sample: ERROR and BLOCK are failures, WARN is a warning, ALLOW is a success. */
export type BreakerSample = 'success' | 'warn' | 'failure';

export function breakerSample(status: Status): BreakerSample {
  switch (status) {
    case 'ALLOW':
      return 'success';
    case 'WARN':
      return 'warn';
    case 'BLOCK':
      return 'failure';
    default:
      return status satisfies never;
  }
}
