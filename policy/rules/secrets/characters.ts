/** Letters, digits and underscore: what `\w` stands for. */
export function isWord(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f
  );
}

/** Letters, digits, `_`, `-`, `.` and `~`: what most tokens are made of. */
export function isTokenUnit(code: number): boolean {
  return isWord(code) || code === 0x2d || code === 0x2e || code === 0x7e;
}

/** And `+`, `/`, `=`: what base64 is made of. */
export function isRunUnit(code: number): boolean {
  return isTokenUnit(code) || code === 0x2b || code === 0x2f || code === 0x3d;
}

export function isSpace(letter: string | undefined): boolean {
  return letter === ' ' || letter === '\n' || letter === '\r' || letter === '\t';
}

export function isQuote(letter: string | undefined): boolean {
  return letter === '"' || letter === "'" || letter === '`';
}

/** Past blanks and tabs, of which there are rarely many. */
export function skipBlank(text: string, from: number): number {
  let i = from;
  while (i < text.length && i - from < 8 && (text[i] === ' ' || text[i] === '\t')) i++;
  return i;
}

/** Whether a token may begin here: after no word character, or after the letter of an escape such as `\n`. */
export function beginsToken(text: string, at: number): boolean {
  if (at === 0 || !isWord(text.charCodeAt(at - 1))) return true;
  return text[at - 2] === '\\' && 'nrt'.includes(text[at - 1] as string);
}

export interface Classes {
  readonly upper: number;
  readonly lower: number;
  readonly digit: number;
  readonly other: number;
}

export function classesOf(text: string): Classes {
  let [upper, lower, digit, other] = [0, 0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x30 && code <= 0x39) digit++;
    else if (code >= 0x41 && code <= 0x5a) upper++;
    else if (code >= 0x61 && code <= 0x7a) lower++;
    else other++;
  }
  return { upper, lower, digit, other };
}

/** Bits a character, by how often each one occurs (Shannon). */
export function entropyOf(text: string): number {
  const counts = new Map<number, number>();
  for (let i = 0; i < text.length; i++) counts.set(text.charCodeAt(i), (counts.get(text.charCodeAt(i)) ?? 0) + 1);
  let entropy = 0;
  for (const count of counts.values()) entropy -= (count / text.length) * Math.log2(count / text.length);
  return entropy;
}
