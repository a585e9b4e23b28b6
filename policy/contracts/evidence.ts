import type { AdmittedAnswer } from './answer';
import type { ValidatorFinding } from './finding';
import type { ReviewOutcome } from './outcome';
import type { Plan } from './plan';
import type { StagingRecord } from './staging-record';
import type { PolicyViolation } from './violation';

/** Result of the query `evidence`: all inputs of the decision, as the workflow knows them. Does not contain diff bytes. */
export interface Evidence {
  readonly changeId: string;
  readonly inputSha: string;
  readonly planHash: string | null;
  readonly plan: Plan | null;
  readonly stagingSha: string | null;
  readonly staging: StagingRecord | null;
  readonly findingsSha: string | null;
  readonly findings: readonly ValidatorFinding[];
  readonly violations: readonly PolicyViolation[];
  readonly fingerprint: string | null;
  readonly answers: readonly AdmittedAnswer[];
  readonly outcome: ReviewOutcome | null;
}
