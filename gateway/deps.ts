import type { ReviewClient } from '../client/review-client';
import type { ByteStore } from '../policy/evidence/byte-store';
import type { Submission } from '../policy/contracts/diff';
import type { AnswerCode, AnswerResults } from '../policy/contracts/answer';
import type { KeyRegistration } from '../policy/evidence/bundle';
import type { NewestRevision, SignedRevision } from '../policy/evidence/published-policy';
import type { KeyLookup } from '../policy/evidence/key-registry';
import type { WithdrawMessage, WithdrawResult } from '../policy/contracts/withdrawal';
import type { AnswerScope } from '../signing/assess-answer';
import type { RefusedWithdrawal, WithdrawalScope } from '../signing/assess-withdrawal';
import type { ServiceProbes } from './readiness';
import type { InboxDeps } from './inbox/deps';
import type { GatewayMetrics } from './metrics';
import type { AnswerLimits } from './answer-limits';
import type { Nonces } from './nonces';
import type { OperatorKey } from '../signing/operator-key';

/** What the gateway checks answers with before it relays them. */
export interface AnswerGate {
  /** What answers are compared with, from ledger rows; null for a review that is not open, whose answers are refused as late. */
  readonly scopeOf: (changeId: string) => Promise<AnswerScope | null>;
  /** What a withdrawal is compared with, from ledger rows; null for a review that is not open. */
  readonly withdrawalScopeOf: (changeId: string, message: WithdrawMessage) => Promise<WithdrawalScope | null>;
  /** Records a refused withdrawal in the ledger. */
  readonly recordRefusedWithdrawal: (
    changeId: string,
    message: WithdrawMessage,
    refused: RefusedWithdrawal,
  ) => Promise<WithdrawResult>;
  /** Records refused answers in the ledger. Results by violation id. */
  readonly recordRefused: (changeId: string, refused: readonly RefusedBeforeRelay[]) => Promise<AnswerResults>;
}

export interface RefusedBeforeRelay {
  readonly sent: unknown;
  readonly code: Exclude<AnswerCode, 'accepted' | 'duplicate'>;
  readonly message: string;
  readonly violationId: string | null;
}

/** The revisions of the policy. */
export interface PolicyGate {
  /** Public keys of the operators that the processes trust. */
  readonly operators: readonly OperatorKey[];
  readonly newest: () => Promise<NewestRevision>;
  /** Null if it is stored; otherwise the number that the next revision must have. */
  readonly store: (revision: number, signed: SignedRevision) => Promise<number | null>;
}

/** What the gateway needs from the process that serves it. */
export interface GatewayDeps {
  readonly reviews: Pick<
    ReviewClient,
    'start' | 'bundle' | 'tenantOf' | 'result' | 'list' | 'answer' | 'sendWithdrawal' | 'spend'
  >;
  readonly store: Pick<ByteStore, 'put' | 'has'>;
  readonly keys: () => Promise<{ readonly find: KeyLookup }>;
  readonly answers: AnswerGate;
  readonly policy: PolicyGate;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: { readonly error: (facts: object, message: string) => void };
  /** The signed registry entry of a key; null for an unknown key. */
  readonly registration: (keyId: string) => Promise<KeyRegistration | null>;
  /** Asks the services behind the gateway. A probe that rejects, or does not resolve in time, says that its service is down. */
  readonly probes: ServiceProbes;
  /** What a change does, for the Temporal UI; null if it is unknown. It decides nothing, and never rejects. */
  readonly titleOf?: (submission: Submission) => Promise<string | null>;
  readonly metrics?: GatewayMetrics;
  readonly nonces?: Nonces;
  readonly answerLimits?: AnswerLimits;
  /** Aborted when the process stops: then open streams and waiting requests end. */
  readonly stopping: AbortSignal;
  /** Null: the gateway has no inbox. */
  readonly inbox: InboxDeps | null;
}
