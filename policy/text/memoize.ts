/** Memoizes `compute` by the identity of its argument, in a WeakMap. For values that rules derive repeatedly from the same facts or settings. */
export function memoizeByObject<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const cache = new WeakMap<Key, { readonly value: Value }>();
  return (key) => {
    let entry = cache.get(key);
    if (entry === undefined) cache.set(key, (entry = { value: compute(key) }));
    return entry.value;
  };
}
