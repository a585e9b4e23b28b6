const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;

/** Index of the first unescaped quote at or after `from`; -1 if there is none, or, with `oneLine`, if a line feed comes first. */
export function closingQuote(text: string, from: number, oneLine = false): number {
  for (let i = from; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === BACKSLASH) i++;
    else if (unit === QUOTE) return i;
    else if (oneLine && unit === LINE_FEED) return -1;
  }
  return -1;
}
