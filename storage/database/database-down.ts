import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';

/** Whether a call failed because the database is unreachable, busy or too slow. */
export function isDatabaseDown(error: unknown): boolean {
  return error instanceof CountersignFailure && error.type === FailureType.Store;
}
