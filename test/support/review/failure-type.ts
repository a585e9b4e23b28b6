import { ApplicationFailure } from '@temporalio/common';
import { CountersignFailure } from '../../../policy/contracts/failure';

/** `type` of the failure that a promise rejects with, thrown by an activity directly or through its interceptor. */
export async function failureType(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'none';
  } catch (error) {
    return error instanceof CountersignFailure || error instanceof ApplicationFailure
      ? (error.type ?? 'none')
      : String(error);
  }
}
