/** Public API of the npm package `countersign`: for agent backends, tools and channels. */
export { Countersign, type CountersignOptions } from './countersign';
export { ReviewClient, type Bounded, type ReviewClientOptions, type Submitted } from './review-client';
export { type SubmitInput, type PreparedSubmission, prepareSubmission, signSubmission } from './submission';
export { type ReviewResult } from './result';
export { type ReceiptCheck, type ReceiptTrust, type Verification, verifyOutcome, verifyReceipt } from './receipt';
export {
  GuardBlock,
  guard,
  isGuardBlock,
  type Guarded,
  type GuardOptions,
  type GuardReason,
  type Staged,
} from './guard';
export { type ApprovalChannel, consult, type Consulted, type PolicyRequest } from './channel';
export { CountersignError, type ErrorCode } from './errors';
export { createSigner, type Signer } from './signer';
export { type AnswerChoice, signAnswers, type SignedAnswers } from './sign-answers';
export {
  type ByteSink,
  type ClientLedger,
  type ListFilter,
  type RecordedReview,
  type ReviewPage,
  type ReviewProjection,
} from './ports';
export { GatewayClient, type GatewayClientOptions } from './gateway-client';
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
export type { WithdrawResult } from '../policy/contracts/withdrawal';
export type { Evidence } from '../policy/contracts/evidence';
export { type DecidedMessage, REPLY_MESSAGES } from '../policy/contracts/messages';
