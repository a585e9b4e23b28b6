/** The message of what was thrown, for people. Never throws, although a thrown object may have no text. */
export function errorMessage(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'a value without a text'; // Such as an object without a prototype.
  }
}
