import { withCurrentKeys, type KeyRegistry } from '../../../policy/evidence/key-registry';
import { testKey, testRegistry } from '../../support/keys';

const [ada, eli] = [testKey('approver', 'ada'), testKey('approver', 'eli')];

/** A registry whose cache has only the key of Ada, with the ages that were asked for. */
function registry(): { readonly keys: Pick<KeyRegistry, 'snapshot'>; readonly ages: (number | undefined)[] } {
  const ages: (number | undefined)[] = [];
  const [cached, current] = [testRegistry(ada), testRegistry(ada, eli)];
  const snapshot: KeyRegistry['snapshot'] = (maxAgeMs) => {
    ages.push(maxAgeMs);
    return (maxAgeMs === 0 ? current : cached).snapshot();
  };
  return { keys: { snapshot }, ages };
}

it('reads the registry only once if the cache has every key', async () => {
  const { keys, ages } = registry();
  await expect(withCurrentKeys(keys, (find) => find(ada.keyId)?.subject.id)).resolves.toBe('ada');
  expect(ages).toEqual([undefined]);
});

it('judges again with the current registry if the cache lacks any of the keys', async () => {
  const { keys, ages } = registry();
  const people = await withCurrentKeys(keys, (find) => [ada, eli].map(({ keyId }) => find(keyId)?.subject.id));
  expect(people).toEqual(['ada', 'eli']);
  expect(ages).toEqual([undefined, 0]);
});

it('finds no key that is not registered', async () => {
  const { keys } = registry();
  await expect(withCurrentKeys(keys, (find) => find('0'.repeat(64)))).resolves.toBeUndefined();
});

it('fails if the current registry cannot be read, instead of using the cache', async () => {
  const down = {
    snapshot: (maxAgeMs?: number) =>
      maxAgeMs === 0 ? Promise.reject(new Error('down')) : testRegistry(ada).snapshot(),
  };
  await expect(withCurrentKeys(down, (find) => find(eli.keyId))).rejects.toThrow('down');
});
