/** Memoizes `make` by the identity of its argument, in a WeakMap. For values that rules derive repeatedly from the same facts or settings. */
export function memoizeByObject<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const cache = new WeakMap<Key, { readonly made: Made }>();
  return (key) => {
    let entry = cache.get(key);
    if (entry === undefined) cache.set(key, (entry = { made: make(key) }));
    return entry.made;
  };
}
