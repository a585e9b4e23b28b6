/** One word for a POSIX shell, whatever is in it. Throws on NUL, which no argument can hold. */
export function shellQuote(word: string): string {
  if (word.includes('\0')) throw new TypeError('An argument cannot hold NUL');
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function shellCommand(words: readonly string[]): string {
  return words.map(shellQuote).join(' ');
}
