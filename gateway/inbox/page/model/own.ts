/** The entry of a name that comes from a review, such as a word of a rule's name. Undefined for `constructor`, which every object inherits. */
export function own<T>(entries: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}
