const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;

/** Index of the first quote from `from` on that no backslash escapes; -1 if there is none, or with `oneLine` a line feed before it. */
export function closingQuote(text: string, from: number, oneLine = false): number {
  for (let i = from; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === BACKSLASH) i++;
    else if (unit === QUOTE) return i;
    else if (oneLine && unit === LINE_FEED) return -1;
  }
  return -1;
}
