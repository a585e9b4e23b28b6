import type { KeyLookup, KeyRegistry } from './key-registry';

/**
 * Calls `judge` with the cached registry, and again with the current one if it looked up a key that the cache does not have: the key can
 * be newer than the cache. Otherwise one attempt could refuse a signature and the next one count it, and after a lost result the ledger and
 * the workflow would have different answers. `judge` must be pure, since it may run twice.
 */
export async function withCurrentKeys<T>(
  keys: Pick<KeyRegistry, 'snapshot'>,
  judge: (find: KeyLookup) => T,
): Promise<T> {
  const cached = await keys.snapshot();
  let isMissing = false;
  const result = judge((keyId) => {
    const key = cached.find(keyId);
    if (key === undefined) isMissing = true;
    return key;
  });
  return isMissing ? judge((await keys.snapshot(0)).find) : result;
}
