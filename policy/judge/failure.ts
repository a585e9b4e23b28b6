/** Runs in the workflow's sandbox: imports nothing but contracts, `decide` and plain text functions. */
import { FailureType } from '../contracts/failure-type';
import type { ErrorClass, ValidatorResult } from '../contracts/finding';
import type { Sha256 } from '../contracts/hash';
import { errorResult } from '../decide/findings';
import { cutText } from './human-text';

/**
 * What went wrong, told apart for people and metrics. A failure's message begins with it and a colon, since the message
 * is what survives from an activity to the workflow and into the ledger.
 */
export const JUDGE_CAUSES = [
  'refusal',
  'content_filter',
  'quota',
  'rate_limited',
  'timeout',
  'connection',
  'redirect',
  'bad_request',
  'authentication',
  'not_found',
  'too_large',
  'server_error',
  'http_status',
  'not_json',
  'bad_envelope',
  'no_choices',
  'model_mismatch',
  'host_not_allowed',
  'budget',
  'truncated',
  'answer',
  'unknown_source_tool',
  'undecodable',
] as const;
export type JudgeCause = (typeof JUDGE_CAUSES)[number];

export function failureMessage(cause: JudgeCause, text: string): string {
  return `${cause}: ${text}`;
}

export function causeOf(message: string): JudgeCause | null {
  const word = message.slice(0, Math.max(0, message.indexOf(':')));
  return JUDGE_CAUSES.find((cause) => cause === word) ?? null;
}

export interface JudgeFailure {
  readonly validatorId: string;
  readonly changeId: Sha256;
  /** `type` of the last ApplicationFailure, or the name of what else ended the activity: `TimeoutFailure`, … */
  readonly failureType: string;
  readonly message: string;
}

/**
 * The finding of a judge that could not answer: a BLOCK with `errorClass`, which only a human resolves (P1). Total: a
 * failure that nobody foresaw is a backend failure. The text says that the judge was silent, so that nobody reads a no into it.
 */
export function judgeFailureResult(failure: JudgeFailure): ValidatorResult {
  const { errorClass, reasonCode } = classOf(failure.failureType);
  const cause = causeOf(failure.message);
  const result = errorResult(failure.validatorId, failure.changeId, {
    errorClass,
    reasonCode,
    reason: cutText(`The judge could not answer: ${failure.message}`, 4000),
    reproducible: errorClass === 'ErrUnknownDiffType',
  });
  return cause === null ? result : { ...result, details: { cause } };
}

function classOf(failureType: string): { readonly errorClass: ErrorClass; readonly reasonCode: string } {
  switch (failureType) {
    case FailureType.VerdictParse:
      return { errorClass: 'ErrVerdictParse', reasonCode: 'judge_verdict_parse' };
    case FailureType.UnknownDiffType:
      return { errorClass: 'ErrUnknownDiffType', reasonCode: 'judge_unknown_diff_type' };
    case 'TimeoutFailure':
      return { errorClass: 'ErrTimeout', reasonCode: 'judge_timeout' };
    default:
      return { errorClass: 'ErrValidatorBackend', reasonCode: 'judge_backend' };
  }
}
