/** Lower case with unchanged positions. If the lower-case text would have another length, only ASCII is converted. */
export function foldAscii(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text.replace(/[A-Z]+/g, (upper) => upper.toLowerCase());
}
