import { Sha256Hex } from '../../policy/contracts/diff';

/** Whether rows can have this id. PostgreSQL refuses a text with a NUL, so other ids are not looked up. */
export function isChangeId(changeId: unknown): changeId is string {
  return Sha256Hex.safeParse(changeId).success;
}

/** Throws TypeError for anything but a change id, so that a mistake of a caller never becomes a query. */
export function assertChangeId(changeId: string): string {
  if (isChangeId(changeId)) return changeId;
  throw new TypeError(
    `Ledger: changeId ${String(JSON.stringify(changeId)).slice(0, 100)}: expected 64 lower-case hex digits`,
  );
}
