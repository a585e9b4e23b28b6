/** Runs in the workflow's sandbox: imports nothing but contracts, `decide` and plain text functions. */
import { FailureType } from '../contracts/failure-type';
import type { ErrorClass, ValidatorResult } from '../contracts/finding';
import type { Sha256 } from '../contracts/hash';
import { errorResult } from './findings';

/**
 * What went wrong, told apart for people and metrics, and how people are told. A failure's message begins with the cause
 * and a colon, since the message is what survives from an activity to the workflow.
 */
const CAUSES = {
  refusal: 'the model refused to answer',
  content_filter: "the provider's content filter stopped it",
  quota: 'the quota is used up',
  rate_limited: 'it was asked too often',
  timeout: 'no complete answer in time',
  connection: 'the connection failed',
  redirect: 'the server redirects, which is not followed',
  bad_request: 'the server refuses such a request',
  authentication: 'the server does not accept the key',
  not_found: 'the server knows no such model or address',
  too_large: 'the diff or the answer is too large',
  server_error: 'the server failed',
  http_status: 'the server answered with an error',
  not_json: 'the server answered something that is no JSON',
  bad_envelope: "the server's answer could not be used",
  no_choices: 'the answer held no choice',
  model_mismatch: 'another model answered',
  host_not_allowed: 'the server is not on the list',
  budget: 'the budget is used up',
  truncated: 'the answer was cut off',
  answer: 'the answer is no strict verdict',
  unknown_source_tool: 'no renderer reads such diffs',
  undecodable: 'the bytes are no text',
} as const;
export type JudgeCause = keyof typeof CAUSES;
export const JUDGE_CAUSES = Object.keys(CAUSES) as readonly JudgeCause[];

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
 * It is made of our own words: the message is whatever the caller of an activity says, and people must not read that here.
 */
export function judgeFailureResult(failure: JudgeFailure): ValidatorResult {
  const { errorClass, reasonCode } = classOf(failure.failureType);
  const cause = causeOf(failure.message);
  const result = errorResult(failure.validatorId, failure.changeId, {
    errorClass,
    reasonCode,
    reason: `The judge could not answer: ${wordsOf(failure, cause)}`,
    reproducible: errorClass === 'ErrUnknownDiffType',
  });
  return cause === null ? result : { ...result, details: { cause } };
}

function wordsOf({ failureType, message }: JudgeFailure, cause: JudgeCause | null): string {
  if (cause === null) return KNOWN_TYPES.has(failureType) ? failureType : 'why is not known';
  const status = /\banswered ([1-5]\d\d)\b/.exec(message)?.[1];
  return `${cause}: ${CAUSES[cause]}${status === undefined ? '' : ` (HTTP ${status})`}`;
}

const KNOWN_TYPES: ReadonlySet<string> = new Set([...Object.values(FailureType), 'TimeoutFailure', 'CancelledFailure']);

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
