import type { KeyLookup, KeyRegistry } from './key-registry';

/**
 * What `judge` returns with the cached registry, or, if it looked for a key that the cache does not have, with the registry as it is
 * now. A key can be newer than the cache. If one attempt refused its signature and another one counted it, a lost result would leave
 * the ledger and the workflow with different answers. `judge` must be pure, since it may run twice.
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
