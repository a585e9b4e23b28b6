/**
 * Input and output of `verifyReview`.
 *
 * `ReviewRecord` is the review itself, as the committer reads it from its database and as an evidence file contains it.
 * `ReviewSources` is what the caller trusts: trust roots, keys, and values that only a database or the rules can provide.
 * A source that the caller does not have is null, and the check that needs it is reported as `not_checked`.
 */
import type { AttestedPredicate } from '../../policy/contracts/attested';
import type { JsonObject, JsonValue } from '../../policy/contracts/canonical-json';
import type { Submission } from '../../policy/contracts/diff';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import type { LedgerRow } from '../../policy/contracts/ledger';
import type { Mode, ReceiptPredicate, RollbackReason } from '../../policy/contracts/outcome';
import type { Plan } from '../../policy/contracts/plan';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import type { PolicyViolation } from '../../policy/contracts/violation';
import type { Evidence } from '../../policy/evidence/bundle';
import type { StoredRow } from '../../policy/evidence/chain';
import type { KeyLookup } from '../../policy/evidence/key-registry';
import type { SpentNonce, StandingReject } from '../../policy/evidence/ledger-port';
import type { RecordedChange } from '../../policy/evidence/recorded-findings';
import type { ReplayReport } from '../../policy/evidence/reports';
import type { AggregateRecord } from '../../policy/rules/aggregate/aggregate';
import type { VerifiedAnswers } from '../verify-answers';
import type { OperatorKey } from '../operator-key';

/**
 * Caller of the verification: the committer before it acts, a client that shows or answers an open review, `countersign verify` on a
 * file, or `countersign replay`.
 */
export type VerifyContext = 'commit' | 'open' | 'evidence' | 'replay';

/** Ed25519 public keys that the verifier itself trusts, 64 lower-case hex digits each. */
export interface EvidenceTrust {
  readonly operators: readonly OperatorKey[];
  readonly committers: readonly string[];
}

/** A value that was looked up, or why the lookup refused it. A refusal fails the check that needs the value. */
export type Supplied<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly explanation: string };

export interface ReviewRecord {
  readonly changeId: string;
  readonly rows: readonly StoredRow[];
  /** Null if the file was exported without them. */
  readonly bytes: Supplied<Uint8Array> | null;
  readonly plan: Plan | null;
  readonly staging: StagingRecord | null;
  /** Rows before and after, for people. Null if the dry run has none, or if they were left out. */
  readonly preview: JsonObject | null;
  /** The commit or rollback that the workflow requests; null outside the committer. */
  readonly asked: {
    readonly planHash: string;
    readonly stagingSha: string | null;
    readonly fingerprint: string | null;
    /** The reason of a rollback that is requested instead. */
    readonly ending?: RollbackReason;
  } | null;
  /** An evidence file, or what the caller collected for this verification. Null in the committer, which reads the database itself. */
  readonly file: Evidence | null;
}

export interface ReviewSources {
  readonly context: VerifyContext;
  /** The moment of verification, ISO 8601. Null: the moment at which the rows say that the review was settled. */
  readonly at: string | null;
  /** Null: the signed statements in the file are verified with `trust`. */
  readonly policy: Supplied<{ readonly revision: number }> | null;
  /** Null: the registry entries in the file are verified with `trust`. */
  readonly keys: KeyLookup | null;
  readonly trust: EvidenceTrust | null;
  /** Results of the plan's derived validators by id, computed again by running the rules. */
  readonly derived: Supplied<Readonly<Record<string, unknown>>> | null;
  /** What the limits over many changes must count, read from the ledger and measured from the bytes. */
  readonly sums: Supplied<CountedSums> | null;
  /** Rejects of the same input or facts under other change ids. */
  readonly rejects: readonly StandingReject[] | null;
  /** Digest of the normalized content, computed again from the bytes. */
  readonly factsSha: Supplied<string> | null;
  readonly nonces: readonly SpentNonce[] | null;
  /** The committer's own configuration; a null `development` means that it does not serve the target. */
  readonly target: { readonly mode: Mode | null; readonly development: boolean | null } | null;
}

/** Sources of a verifier that has only the record: no database, no rules, no registry. `trust` is added by the caller. */
export const RECORD_ONLY = {
  at: null,
  policy: null,
  keys: null,
  derived: null,
  sums: null,
  rejects: null,
  factsSha: null,
  nonces: null,
  target: null,
} as const satisfies Omit<ReviewSources, 'context' | 'trust'>;

export interface CountedSums {
  readonly own: JsonValue;
  /** By validator id. */
  readonly needed: ReadonlyMap<string, AggregateRecord>;
}

export interface CheckResult {
  readonly name: string;
  /** `not_checked` does not count as passed: a required check that was not made fails the verification. */
  readonly result: 'ok' | 'failed' | 'not_checked';
  readonly required: boolean;
  /** What was found, or why the check failed or was not made. */
  readonly detail: string;
}

/** The recomputed violations, and the fingerprint that binds them. */
export interface Disclosure {
  readonly violations: readonly PolicyViolation[];
  readonly fingerprint: string | null;
  readonly at: string | null;
  /** Who could answer then, as the review worker says; no other check confirms it. */
  readonly reachable: readonly string[];
}

/** Facts that passed checks have established for later checks. */
export interface ReviewFacts {
  readonly receipt: ReceiptPredicate;
  /** Null: the change was never opened. */
  readonly submission: Submission | null;
  /** Null: no plan was pinned. */
  readonly pinned: { readonly plan: Plan; readonly planHash: string } | null;
  /** When an operator revoked the policy revision of the plan; missing if none did. */
  readonly policyRevokedAt: string;
  readonly keys: KeyLookup;
  readonly staging: { readonly record: StagingRecord; readonly sha: string } | null;
  /** Null: the dry run has none. */
  readonly preview: JsonObject | null;
  /** The person behind the submission; null if unknown. */
  readonly requester: string | null;
  /** The row `withdrawn` or `superseded` if its statement is valid; null if there is none. */
  readonly stopped: LedgerRow | null;
  readonly records: readonly AttestedPredicate[];
  /** Records that came after the disclosure of a review that commits nothing. */
  readonly laterRecords: readonly AttestedPredicate[];
  /** How many records do not count because the key that signed them is revoked. */
  readonly revokedRecords: number;
  readonly findings: readonly ValidatorFinding[];
  readonly comparison: ReplayReport;
  readonly disclosure: Disclosure;
  readonly answers: VerifiedAnswers;
}

/** A review under verification, as each check sees it. */
export interface Review {
  readonly record: ReviewRecord;
  readonly sources: ReviewSources;
  readonly rows: readonly LedgerRow[];
  /** How the review ended, or is about to end; null while it is open. */
  readonly end: RecordedChange['end'];
  /** ISO 8601. */
  readonly at: string;
  /** Throws NotChecked if the check that establishes the fact did not pass. */
  readonly need: <K extends keyof ReviewFacts>(fact: K) => ReviewFacts[K];
  readonly known: (fact: keyof ReviewFacts) => boolean;
  /** Keeps what a check found even if the check fails. */
  readonly keep: (facts: Partial<ReviewFacts>) => void;
}

/** Result of a check that passed: a detail for the report, and facts for later checks. A check that throws has failed. */
export type Passed = readonly [detail: string, facts?: Partial<ReviewFacts>];
export type Check = (review: Review) => Passed;
