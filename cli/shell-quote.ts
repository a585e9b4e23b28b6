/** Quotes any text as one word for a POSIX shell. Throws on NUL, which an argument cannot contain. */
export function shellQuote(word: string): string {
  if (word.includes('\0')) throw new TypeError('An argument cannot contain NUL');
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function shellCommand(words: readonly string[]): string {
  return words.map(shellQuote).join(' ');
}
