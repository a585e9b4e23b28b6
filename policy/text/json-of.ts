/** The value of a JSON text; undefined, which no schema accepts, if the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller's schema refuses it.
  }
}
