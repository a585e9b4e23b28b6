/** Public API of `@countersign/client` for agent backends, tools and channels. The client that needs `@temporalio/client` is exported by `./temporal`. */
export { type Bounded, type ReviewCalls, type Submitted, type Waiting } from './review-calls';
export { type SubmitInput, type PreparedSubmission, prepareSubmission, signSubmission } from './submission';
export { type ReviewResult } from './result';
export { type ReceiptCheck, type ReceiptTrust, type Verification, verifyOutcome, verifyReceipt } from './receipt';
export { guard, type Guarded, type GuardOptions, type Staged } from './guard';
export { GuardBlock, isGuardBlock, type GuardReason } from './guard-block';
export { type GuardClient } from './approval';
export { type ApprovalChannel, consult, type Consulted, type PolicyRequest } from './channel';
export { CountersignError, type ErrorCode } from './errors';
export { createSigner, type Signer } from './signer';
export { type AnswerChoice } from './answer-statements';
export { signAnswers, type SignedAnswers } from './sign-answers';
export { confirmationsOf } from './retraction';
export { signSupersession, signWithdrawal, type SupersedeInput, type WithdrawInput } from './sign-withdrawal';
export { type BundleOptions, type ListFilter, type ReviewPage, type ReviewProjection } from './ports';
export { GatewayClient, type GatewayClientOptions } from './gateway-client';
export { verifiedReview, type Difference, type ReviewVerdict, type VerifiedReview } from '../signing/verified-review';
export { type LoadedKey, readKeyFile } from '../signing/key-file';
export type {
  AnswerCode,
  AnswerMessage,
  AnswerResult,
  AnswerResults,
  UnsignedAnswer,
} from '../policy/contracts/answer';
export type { Envelope, Metadata, Submission } from '../policy/contracts/diff';
export type { ReceiptPredicate, ReviewOutcome, ReviewState, RollbackReason } from '../policy/contracts/outcome';
export type { FindingProjection, Preflight, ReviewStatus, ViolationStatus } from '../policy/contracts/status';
export type { SupersedeMessage, WithdrawMessage, WithdrawResult } from '../policy/contracts/withdrawal';
export type { DecidedMessage } from '../policy/contracts/messages';
