/** Runs in the workflow sandbox: imports only contracts and `decide`. */
import { canonicalJson } from '../contracts/canonical-json';
import { FailureType } from '../contracts/failure-type';
import type { ErrorClass, ValidatorResult } from '../contracts/finding';
import type { Sha256 } from '../contracts/hash';
import { errorResult } from './findings';

/**
 * Causes of a judge failure for metrics, with the text for people. A failure's message starts with the cause and a colon,
 * because the message is preserved from the activity to the workflow.
 */
const CAUSES = {
  refusal: 'the model refused to answer',
  content_filter: "the provider's content filter stopped the answer",
  quota: 'the quota is exhausted',
  rate_limited: 'the request rate limit was exceeded',
  timeout: 'no complete answer within the time-out',
  connection: 'the connection failed',
  redirect: 'the server sent a redirect, which is not followed',
  bad_request: 'the server rejected the request',
  authentication: 'the server rejected the API key',
  not_found: 'the model or address does not exist on the server',
  too_large: 'the diff or the answer is too large',
  server_error: 'the server had an internal error',
  http_status: 'the server returned an HTTP error',
  not_json: 'the response is not valid JSON',
  bad_envelope: 'the response does not have the expected form',
  no_choices: 'the response contains no choice',
  model_mismatch: 'a different model answered',
  host_not_allowed: 'the server is not on the allowlist',
  budget: 'the token budget is exhausted',
  truncated: 'the answer was truncated',
  answer: 'the answer is not exactly one valid verdict',
  unknown_source_tool: 'no renderer is registered for this source tool',
  undecodable: 'the bytes are not valid text',
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

interface JudgeFailure {
  readonly validatorId: string;
  readonly changeId: Sha256;
  /** `type` of the last ApplicationFailure, or the name of what else ended the activity: `TimeoutFailure`, … */
  readonly failureType: string;
  readonly message: string;
}

/**
 * The finding of a judge that could not answer: a BLOCK with `errorClass`, which only a person can resolve. Defined for all
 * failures: unknown types count as backend failures. The reason says that the judge did not answer, so that it is not read as a
 * rejection. It uses only fixed text, because the failure message is not trusted.
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

/** True if `judgeFailureResult` can produce this result. Then it contains no text that the workflow chose. */
export function isJudgeFailureResult(result: ValidatorResult, changeId: Sha256): boolean {
  const status = /\(HTTP ([1-5]\d\d)\)$/.exec(result.reason)?.[1];
  const made = (failureType: string, message: string): ValidatorResult =>
    judgeFailureResult({ validatorId: result.validator_id, changeId, failureType, message });
  const messages = [
    '',
    ...JUDGE_CAUSES.map((c) => failureMessage(c, status === undefined ? '' : `answered ${status}`)),
  ];
  const text = canonicalJson(result);
  return [...KNOWN_TYPES, ''].some((type) => messages.some((message) => canonicalJson(made(type, message)) === text));
}

function wordsOf({ failureType, message }: JudgeFailure, cause: JudgeCause | null): string {
  if (cause === null) return KNOWN_TYPES.has(failureType) ? failureType : 'unknown cause';
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
