import { asStaged, ViewBuilder, type TextView } from '../../text/text-view';

/** A byte of a URL, `%67`; of a string literal, `\x67`; and a character of HTML, `&#103;` or `&#x67;`. */
const ESCAPE = /%([0-9a-f]{2})|\\x([0-9a-f]{2})|&#x0{0,5}([0-9a-f]{2});|&#0{0,5}(\d{2,3});/gi;

/** The text with escapes of printable ASCII and white space decoded; null for a text without them. Linear time. */
export function withoutEscapes(text: string): TextView | null {
  const view = new ViewBuilder(asStaged(text));
  let start = 0;
  for (const { 0: escape, 1: percent, 2: byte, 3: hex, 4: decimal, index } of text.matchAll(ESCAPE)) {
    const digits = percent ?? byte ?? hex;
    const code = digits === undefined ? Number(decimal) : Number.parseInt(digits, 16);
    const isText = (code >= 0x20 && code < 0x7f) || code === 0x0a || code === 0x0d || code === 0x09;
    if (!isText) continue;
    view.push(text.slice(start, index), start);
    view.push(String.fromCharCode(code), index);
    start = index + escape.length;
  }
  if (start === 0) return null;
  view.push(text.slice(start), start);
  return view.build();
}
