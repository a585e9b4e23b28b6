/** Lower case with every place kept: lower case of some characters is longer, and then only ASCII is folded. */
export function foldAscii(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replace(/[A-Z]+/g, (upper) => upper.toLowerCase());
}
