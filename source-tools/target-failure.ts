import { CountersignFailure } from '../policy/contracts/failure';
import { FailureType } from '../policy/contracts/failure-type';

/** The target is unreachable, locked or too slow. Retried: nothing was applied, or the next attempt finds what was. */
export function targetUnavailable(target: string, explanation: string): CountersignFailure {
  return CountersignFailure.retryable(`Target "${target}" is unavailable: ${explanation}`, FailureType.Target);
}

/** Wrong credentials, or a missing database, repository or grant. Not retried. */
export function targetMisconfigured(target: string, explanation: string): CountersignFailure {
  return CountersignFailure.nonRetryable(
    `Target "${target}" is not set up: ${explanation}; run "countersign target init" and "countersign doctor"`,
    FailureType.Configuration,
  );
}
