import type { Metadata } from '../contracts/diff';

/** The number of rows that the caller claims in `affected_rows`; null if it is missing or not a count. */
export function claimedRows(metadata: Metadata): number | null {
  const claim = metadata['affected_rows'];
  return typeof claim === 'number' && Number.isSafeInteger(claim) && claim >= 0 ? claim : null;
}
