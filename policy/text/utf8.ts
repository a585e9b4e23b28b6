/** Decodes UTF-8 and keeps a BOM; null if the bytes are invalid. Never replaces a byte with U+FFFD. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    // By name, not instanceof: the TypeError of Node differs from the one in Jest's realm.
    if ((error as { name?: unknown } | null)?.name === 'TypeError') return null;
    throw error;
  }
}
