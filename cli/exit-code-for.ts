import type { AnswerCode, AnswerResults } from '../policy/contracts/answer';
import type { RollbackReason } from '../policy/contracts/outcome';
import { CountersignError, type ErrorCode } from '../client/errors';
import type { ReviewResult } from '../client/result';
import type { WithdrawCode, WithdrawResult } from '../policy/contracts/withdrawal';
import { ConfigError } from '../workers/config-error';
import { ExitCode } from './exit-codes';
import { UsageError } from './usage-error';

/** The exit code for the state of a review. A commit without a trusted signature is 14, so that no script relies on it. */
export function exitCodeForResult(result: ReviewResult): ExitCode {
  switch (result.state) {
    case 'PENDING':
      return ExitCode.Pending;
    case 'ABORTED':
      return ExitCode.Unverified;
    case 'COMMITTED':
      return result.verified ? ExitCode.Ok : ExitCode.Unverified;
    case 'ROLLED_BACK':
    case 'COMPENSATED':
      return result.verified ? exitCodeForReason(result.outcome.reason) : ExitCode.Unverified;
    default:
      return result satisfies never;
  }
}

function exitCodeForReason(reason: RollbackReason | null): ExitCode {
  switch (reason) {
    case 'expired':
      return ExitCode.Expired;
    case 'stale_base':
    case 'policy_moved':
    case 'superseded':
      return ExitCode.Stale;
    case 'forbidden':
    case 'declined':
    case 'no_handler':
    case 'withdrawn':
    case 'commit_refused':
    case 'commit_failed':
    case 'post_failed':
    case 'contract_violation':
    case 'workflow_lost':
    case null:
      return ExitCode.Rejected;
    default:
      return reason satisfies never;
  }
}

const ANSWER: { readonly [C in AnswerCode]: ExitCode } = {
  accepted: ExitCode.Ok,
  sent: ExitCode.Unverified,
  duplicate: ExitCode.Ok,
  malformed: ExitCode.Usage,
  too_early: ExitCode.Stale,
  closed: ExitCode.Failure,
  unknown_violation: ExitCode.Stale,
  needs_no_answer: ExitCode.Failure,
  wrong_fingerprint: ExitCode.Stale,
  wrong_context: ExitCode.Failure,
  unsigned_not_accepted: ExitCode.NotEligible,
  unknown_key: ExitCode.NotEligible,
  revoked_key: ExitCode.NotEligible,
  demo_key: ExitCode.NotEligible,
  bad_signature: ExitCode.Unverified,
  not_eligible: ExitCode.NotEligible,
  expired: ExitCode.Expired,
  nonce_reused: ExitCode.Failure,
  counter_regressed: ExitCode.Failure,
  contradicts: ExitCode.Failure,
  superseded: ExitCode.Stale,
  nothing_to_retract: ExitCode.Failure,
  too_many_refusals: ExitCode.Failure,
};

/** 0 if every answer was counted; otherwise the most serious refusal, which has the highest code. An unknown code proves nothing. */
export function exitCodeForAnswers(results: AnswerResults): ExitCode {
  const known: Readonly<Record<string, ExitCode | undefined>> = ANSWER;
  return Object.values(results).reduce<ExitCode>((worst, { code }) => {
    const exitCode = known[code] ?? ExitCode.Unverified;
    return exitCode > worst ? exitCode : worst;
  }, ExitCode.Ok);
}

const WITHDRAW: { readonly [C in WithdrawCode]: ExitCode } = {
  accepted: ExitCode.Ok,
  duplicate: ExitCode.Ok,
  sent: ExitCode.Unverified,
  malformed: ExitCode.Usage,
  too_late: ExitCode.Failure,
  not_open: ExitCode.Failure,
  wrong_context: ExitCode.Failure,
  unknown_key: ExitCode.NotEligible,
  revoked_key: ExitCode.NotEligible,
  demo_key: ExitCode.NotEligible,
  bad_signature: ExitCode.Unverified,
  not_eligible: ExitCode.NotEligible,
  not_yet_valid: ExitCode.Failure,
  nonce_reused: ExitCode.Failure,
  counter_regressed: ExitCode.Failure,
  too_many_refusals: ExitCode.Failure,
};

export function exitCodeForWithdrawal({ code }: WithdrawResult): ExitCode {
  const known: Readonly<Record<string, ExitCode | undefined>> = WITHDRAW;
  return known[code] ?? ExitCode.Unverified;
}

const ERROR: { readonly [C in ErrorCode]: ExitCode } = {
  invalid_input: ExitCode.Usage,
  not_found: ExitCode.Failure,
  diff_missing: ExitCode.Failure,
  conflict: ExitCode.Stale,
  temporal_unavailable: ExitCode.Failure,
  worker_unavailable: ExitCode.Failure,
  store_unavailable: ExitCode.Failure,
  ledger_unavailable: ExitCode.Failure,
  gateway_unavailable: ExitCode.Failure,
  refused: ExitCode.Failure,
  unauthenticated: ExitCode.NotEligible,
  not_eligible: ExitCode.NotEligible,
  not_verified: ExitCode.Unverified,
  too_large: ExitCode.Usage,
  too_many_requests: ExitCode.Failure,
  internal: ExitCode.Failure,
};

/** The exit code for an error that an action threw. */
export function exitCodeForError(error: unknown): ExitCode {
  if (error instanceof UsageError || error instanceof ConfigError) return ExitCode.Usage;
  return error instanceof CountersignError ? ERROR[error.code] : ExitCode.Failure;
}
