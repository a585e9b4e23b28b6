/**
 * Which trace a change belongs to, by its id alone: spans of client, workers and committer meet in one trace, though nothing
 * about traces is in any history, and a worker that comes years later finds the same one. 16 and 8 bytes in hex, as W3C Trace
 * Context asks. Null where the id is no change's.
 */
export function traceOfChange(changeId: string): { readonly traceId: string; readonly spanId: string } | null {
  if (!/^[0-9a-f]{64}$/.test(changeId)) return null;
  const traceId = changeId.slice(0, 32);
  const spanId = changeId.slice(32, 48);
  // All zeros are no ids there; of a hash they never come.
  return /^0+$/.test(traceId) || /^0+$/.test(spanId) ? null : { traceId, spanId };
}
