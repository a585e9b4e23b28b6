import type { Opened } from '../activities/review-types';
import type { AdmittedAnswer } from '../policy/contracts/answer';
import type { ReviewState } from '../policy/contracts/outcome';
import type { Cardinality } from '../policy/contracts/plan';
import type { Preflight } from '../policy/contracts/status';
import type { PolicyViolation } from '../policy/contracts/violation';
import type { RawOutcome } from '../policy/decide/findings';
import type { Refusals } from './answer-lines';
import type { Counts } from './message-bounds';

/** The state of a review that continues as a new run, because the history of this one became long. */
export interface Carried {
  readonly waitsFor: { readonly what: 'answers' } | { readonly what: 'effect'; readonly since: number };
  readonly state: ReviewState;
  readonly opened: Opened;
  readonly stagingSha: string | null;
  readonly cardinality: Cardinality | null;
  readonly preflight: Preflight | null;
  readonly violations: readonly PolicyViolation[];
  readonly fingerprint: string | null;
  readonly disclosedAt: string | null;
  readonly reachable: readonly string[];
  readonly title: string;
  readonly keyOwners: Readonly<Record<string, string>>;
  readonly refusals: Refusals;
  readonly warnings: readonly string[];
  readonly answers: readonly AdmittedAnswer[];
  readonly outcomes: readonly (readonly [string, RawOutcome])[];
  readonly tooManyViolations: number | null;
  readonly counts: Counts;
  readonly dropped: number;
}
