/** `2026-11-21 10:00Z`, in UTC; any other text is returned unchanged. */
export function shortTime(at: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:/.test(at) && at.endsWith('Z') ? `${at.slice(0, 10)} ${at.slice(11, 16)}Z` : at;
}
