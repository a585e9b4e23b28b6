/** The text of UTF-8 bytes, a BOM included; null where they are none. Never replaces a byte by U+FFFD. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    // By name: Node's TypeError is another one than that of a test runner's realm.
    if ((error as { name?: unknown } | null)?.name === 'TypeError') return null;
    throw error;
  }
}
