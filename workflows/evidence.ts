import type { AdmittedAnswer } from '../policy/contracts/answer';
import type { ValidatorFinding } from '../policy/contracts/finding';
import type { ReviewOutcome } from '../policy/contracts/outcome';
import type { Plan } from '../policy/contracts/plan';
import type { StagingRecord } from '../policy/contracts/staging-record';
import type { PolicyViolation } from '../policy/contracts/violation';

/** What the query `evidence` answers: everything the decision rests on, as the workflow holds it. No diff bytes. */
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
