import { isOrdinary } from './code-points';

/** A character that makes a text look different from its content. */
export interface OddCharacter {
  /** Position and length in UTF-16 code units. */
  readonly index: number;
  readonly length: number;
  /** Description for people. Does not contain the character itself. */
  readonly what: string;
}

/** Bound on hits per kind and text. */
export const MAX_FOUND = 1000;

/** The characters for which `describe` returns a description. Linear. */
export function scan(text: string, describe: (code: number, index: number) => string | null): OddCharacter[] {
  const found: OddCharacter[] = [];
  if (isOrdinary(text)) return found;
  for (let i = 0; i < text.length && found.length < MAX_FOUND; i++) {
    const code = text.codePointAt(i) as number;
    const length = code > 0xffff ? 2 : 1;
    const what = describe(code, i);
    if (what !== null) found.push({ index: i, length, what });
    i += length - 1;
  }
  return found;
}
