import { CountersignFailure } from '../policy/contracts/failure';
import { FailureType } from '../policy/contracts/failure-type';

/** Target away, locked or too slow; nothing was applied, or the next attempt finds what was. Retried. */
export function targetUnavailable(target: string, explanation: string): CountersignFailure {
  return CountersignFailure.retryable(`Target "${target}" is unavailable: ${explanation}`, FailureType.Target);
}

/** Wrong credentials, missing database, repository or grants. Retrying cannot help. */
export function targetMisconfigured(target: string, explanation: string): CountersignFailure {
  return CountersignFailure.nonRetryable(
    `Target "${target}" is not set up: ${explanation}; run "countersign target init" and "countersign doctor"`,
    FailureType.Configuration,
  );
}
