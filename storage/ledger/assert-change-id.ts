import { Sha256Hex } from '../../policy/contracts/diff';

/** Throws TypeError for text that is not a change id, so that a mistake of a caller never becomes a query. */
export function assertChangeId(changeId: string): string {
  const parsed = Sha256Hex.safeParse(changeId);
  if (!parsed.success)
    throw new TypeError(
      `Ledger: changeId "${changeId.slice(0, 100)}": ${parsed.error.issues[0]?.message ?? 'not a digest'}`,
    );
  return parsed.data;
}
