/** Words separated by white space, for tables with dozens of names. */
export const wordList = (text: string): string[] => text.trim().split(/\s+/);

export const wordSet = (text: string): ReadonlySet<string> => new Set(wordList(text));
