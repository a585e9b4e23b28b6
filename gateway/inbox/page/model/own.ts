/** Looks up a name that comes from a review. Undefined for inherited members such as `constructor`. */
export function own<T>(entries: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}
