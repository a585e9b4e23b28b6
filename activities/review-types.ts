/**
 * Inputs and outputs of the activities of a review. They are recorded in workflow histories and therefore contain no diff
 * bytes. Types only: workflow code may import this file.
 */
import type { AdmittedAnswer, AnswerResults } from '../policy/contracts/answer';
import type { Envelope, Submission } from '../policy/contracts/diff';
import type { ValidatorResult } from '../policy/contracts/finding';
import type { HistoryPlan } from '../policy/contracts/history-plan';
import type { Mode, RollbackReason, TerminalState } from '../policy/contracts/outcome';
import type { Cardinality } from '../policy/contracts/plan';
import type { Stopped, WithdrawResult } from '../policy/contracts/withdrawal';
import type { RawOutcome } from '../policy/decide/findings';
import type { Reported } from '../policy/decide/reported';
import type { CallbackResults } from '../policy/decide/violations';

/** Names one change. Everything else about it is read from its rows, so nothing of it can be forged here. */
interface ChangeInput {
  readonly changeId: string;
}

export interface OpenInput {
  readonly changeId: string;
  readonly submission: Submission;
}

/** The pinned plan, and what the review worker attests before any guardian runs. */
export interface Opened {
  readonly plan: HistoryPlan;
  readonly planHash: string;
  /** The person behind the submission's service key; null if unknown: then four eyes require two people. */
  readonly requester: string | null;
  /** Results of the attested built-ins. */
  readonly reported: Reported;
  /** What the change does in one line, from its bytes: for the Temporal UI. */
  readonly title: string;
  /** Warnings for status and evidence, such as unsigned answers. */
  readonly warnings: readonly string[];
  /** When the review was opened, from the ledger row. Waivers are evaluated at this time. */
  readonly openedAt: string;
  /** Set if the ledger has the change as withdrawn or superseded, as after a restart of the workflow. */
  readonly stopped: Stopped | null;
}

interface GuardiansInput extends ChangeInput {
  readonly unit: string;
}
/** By validator id. */
export type UnitResults = Readonly<Record<string, unknown>>;

/** What the committer reports of a dry run; `Staged` in target-effects.ts is what the target answered. */
export type DryRun =
  | {
      readonly kind: 'staged';
      readonly stagingSha: string;
      /** Which policies match depends on it; null if unknown. */
      readonly cardinality: Cardinality | null;
      /** The title of the change with the rows that the dry run counted. */
      readonly title: string;
      readonly reported: Reported;
    }
  /**
   * By the committer, before it executed anything: a static finding, computed again, forbids the change, its plan is for another target,
   * or it has ended.
   */
  | { readonly kind: 'refused'; readonly explanation: string }
  /** The target does not accept it (unknown column, constraint, permission), or `stale`: its base has moved. The target is unchanged. */
  | { readonly kind: 'rejected'; readonly stale?: true; readonly explanation: string };

export interface JudgeInput extends ChangeInput {
  readonly stagingSha: string | null;
  readonly validatorId: string;
}
export interface Judged {
  /** Its signed record is in the ledger. */
  readonly result: ValidatorResult;
  /** An earlier answer to the same question was used. */
  readonly reused: boolean;
}
export interface JudgeFailureInput extends JudgeInput {
  readonly failureType: string;
  readonly message: string;
}

interface DiscloseInput extends ChangeInput {
  readonly stagingSha: string | null;
  /** Outcomes of validators without a row in the ledger. All other findings are read from there. */
  readonly unrecorded: Readonly<Record<string, RawOutcome>>;
}
export interface Disclosed {
  /** With findings and plan they give the violations. */
  readonly callbackResults: CallbackResults;
  readonly fingerprint: string;
  readonly disclosedAt: string;
  /** Persons who can answer: those with an active key, or, if answers are unsigned, every member of a group. */
  readonly reachable: readonly string[];
  /** The person of each active key of these, by key id. Only to write names in the Temporal UI. */
  readonly keyOwners: Readonly<Record<string, string>>;
}

/** What an answer is compared with comes from ledger rows and the pinned plan, not from here. */
export interface AdmitInput {
  readonly changeId: string;
  /** The review is being rolled back. The start of a commit is found in the ledger. */
  readonly closed: boolean;
  /** Digests of the answers that the workflow counts already. */
  readonly admitted: readonly string[];
  readonly message: unknown;
  readonly via: 'update' | 'signal';
}
export interface Admitted {
  readonly results: AnswerResults;
  /** Of this message, and recorded ones that the workflow does not count: the result of an earlier attempt may have been lost. */
  readonly admitted: readonly AdmittedAnswer[];
}

export interface AdmitWithdrawalInput {
  readonly changeId: string;
  readonly kind: 'withdraw' | 'supersede';
  readonly message: unknown;
  readonly via: 'update' | 'signal';
}
export interface AdmittedWithdrawal {
  readonly result: WithdrawResult;
  /** The statement in the ledger, by any sender; null if the change is neither withdrawn nor superseded. */
  readonly stopped: Stopped | null;
}

/** What people said about a change, by its rows. */
export interface Statements {
  /** Answers that verify now, and rejects and retractions that verified once. Without confirmations by keys that were revoked since. */
  readonly answers: readonly AdmittedAnswer[];
  /** Null if the change is neither withdrawn nor superseded. */
  readonly stopped: Stopped | null;
}

export interface CommitInput {
  readonly changeId: string;
  readonly planHash: string;
  readonly stagingSha: string | null;
  /** Null if nothing was disclosed. */
  readonly fingerprint: string | null;
}
export interface RollbackInput {
  readonly changeId: string;
  readonly submission: Submission;
  readonly reason: RollbackReason;
  /** For readers of the workflow history. The committer writes its own, from the rows. */
  readonly explanation: string;
}
/** How a change ended at the committer, which decides this; the workflow only reports it. */
export interface Settled {
  readonly state: TerminalState;
  readonly reason: RollbackReason | null;
  readonly explanation: string;
  readonly mode: Mode;
  readonly planHash: string | null;
  readonly stagingSha: string | null;
  readonly receipt: Envelope;
}
/** How a change ended. `EFFECT_UNKNOWN`: the commit was sent and its answer was lost, or the commit never reported. */
export type SettledOrUnknown = Settled | { readonly state: 'EFFECT_UNKNOWN'; readonly explanation: string };
/** Why a change may be refused at its commit. */
export type RefusalReason = Extract<RollbackReason, 'commit_refused' | 'policy_moved' | 'withdrawn' | 'superseded'>;
/** What the committer reports of a commit; `CommitResult` in target-effects.ts is what the target answered. */
export type CommitReport =
  | SettledOrUnknown
  /** A check refused the commit; the ledger contains its name. Nothing was applied, and the workflow rolls back. */
  | {
      readonly state: 'REFUSED';
      readonly reason: RefusalReason;
      readonly explanation: string;
    };

/** Function properties, because activity proxies are destructured. */
export interface ReviewActivities {
  readonly openReview: (input: OpenInput) => Promise<Opened>;
  readonly runGuardians: (input: GuardiansInput) => Promise<Reported>;
  readonly disclose: (input: DiscloseInput) => Promise<Disclosed>;
  readonly admitAnswer: (input: AdmitInput) => Promise<Admitted>;
  readonly admitWithdrawal: (input: AdmitWithdrawalInput) => Promise<AdmittedWithdrawal>;
  readonly readStatements: (input: ChangeInput) => Promise<Statements>;
}
export interface JudgeActivities {
  readonly askJudge: (input: JudgeInput) => Promise<Judged>;
  readonly attestJudgeFailure: (input: JudgeFailureInput) => Promise<Judged>;
}
export interface CommitActivities {
  readonly stage: (input: ChangeInput) => Promise<DryRun>;
  readonly commit: (input: CommitInput) => Promise<CommitReport>;
  readonly rollback: (input: RollbackInput) => Promise<Settled>;
  /** Resolves EFFECT_UNKNOWN by the marker: COMMITTED if found; otherwise it is sealed, so that no delayed attempt can commit. */
  readonly reconcile: (input: CommitInput) => Promise<SettledOrUnknown>;
}
