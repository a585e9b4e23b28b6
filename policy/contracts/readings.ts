import type { Status, ValidatorFinding } from './finding';
import type { PlanValidator } from './plan';
import type { StagingRecord } from './staging-record';

/** What is read off findings and records. */

/** True for WARN, BLOCK and ERROR: what a POLICY finding must not be to commit by itself. */
export function fires(finding: Pick<ValidatorFinding, 'status'>): boolean {
  return finding.status === 'WARN' || finding.status === 'BLOCK';
}

/** Implementation of the validators that add up many changes. */
export const AGGREGATE = 'aggregate';

export function isAggregate({ implementation }: Pick<PlanValidator, 'implementation'>): boolean {
  return implementation === AGGREGATE;
}

/** True for the judge: of the attested validators only it is asked after the dry run, and only it may be skipped. */
export function isJudge(validator: Pick<PlanValidator, 'kind' | 'unit' | 'implementation'>): boolean {
  return validator.kind === 'attested' && validator.unit !== 'builtin' && !isAggregate(validator);
}

/** Rows that the change touches, captured or not; what `affected_rows` is compared with. */
export function touchedRows(record: StagingRecord): number {
  const sum = (c: { inserted: number; updated: number; deleted: number }): number => c.inserted + c.updated + c.deleted;
  return [...record.tables, ...record.sideEffects].reduce((total, c) => total + sum(c), 0);
}

/** One circuit-breaker sample (F18, F36, F64): ERROR or BLOCK fails, WARN warns, ALLOW succeeds. */
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
