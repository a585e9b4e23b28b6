/** Inclusive ranges of code points in ascending order, without printable ASCII. */
export type CodePointRanges = readonly (readonly [number, number])[];

/** Whether a range contains the code point. */
export function within(ranges: CodePointRanges, code: number): boolean {
  if (code >= 0x20 && code < 0x7f) return false;
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first, last] = ranges[middle] as readonly [number, number];
    if (code < first) high = middle - 1;
    else if (code > last) low = middle + 1;
    else return true;
  }
  return false;
}

/** `U+202E`. */
export function codePointName(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

const BEYOND_ASCII = /[\u0080-\uffff]/;

/** A regular expression search is faster than inspecting each unit. */
export function isAscii(text: string): boolean {
  return !BEYOND_ASCII.test(text);
}

/** Any character except printable ASCII, line feed and tab. */
const UNUSUAL = /[^ -~\n\t]/;

/** True if the text has only printable ASCII, line feeds and tabs. A fast check before a scan, because most texts have no others. */
export function isOrdinary(text: string): boolean {
  return !UNUSUAL.test(text);
}
