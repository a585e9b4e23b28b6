import { errorMessage } from '../../policy/contracts/error-message';
import { ConfigError } from '../../workers/config';

/** Runs `work`. Its error names the option with the URL of the server, but not the URL, which can contain a password. */
export async function naming<T>(option: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new Error(`${option}: ${errorMessage(error)}`, { cause: error });
  }
}
