/** An object whose members are those of the current one, which is made before the tests. */
export function live<T extends object>(current: () => T | undefined): T {
  return new Proxy({} as T, {
    get(_target, name) {
      const made = current();
      if (made === undefined) throw new Error('It is not there before the tests begin');
      return Reflect.get(made, name) as unknown;
    },
  });
}
