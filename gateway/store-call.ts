import { CountersignError, messageOf } from '../client/errors';

/** Maps every failure of the byte store to `store_unavailable`. */
export async function storeCall<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw new CountersignError('store_unavailable', messageOf(error), { cause: error });
  }
}
