import { errorMessage } from '../../policy/contracts/error-message';
import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import { ConfigError } from '../../workers/config';

/** Runs `work`. Its error names the option or variable with the URL of the server, but not the URL, which can contain a password. */
export async function naming<T>(option: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    // The message of a failed connection names the Countersign database, but this can be a target.
    const unreachable = error instanceof CountersignFailure && error.type === FailureType.Store;
    throw new Error(`${option}: ${errorMessage(unreachable ? error.cause : error)}`, { cause: error });
  }
}
