/**
 * The marker: one row per change in the target, written in the same transaction as the effect. It ensures that a change is applied
 * at most once, and shows later whether it was applied.
 *
 * M1 The marker is the first write of a commit. A second attempt waits for its lock, then reads the effect of the first one.
 * M2 The effect is written once (a trigger made by `initTarget` rejects a second write), before COMMIT.
 * M3 A sealed marker means "never": no later attempt applies the change.
 */
import type { JsonObject } from '../../../policy/contracts/canonical-json';
import type { Session } from './session';

/** Schema of the marker table in a target. Changes must not write to it. */
export const OWN_SCHEMA = 'countersign';

export type Marker =
  { readonly kind: 'applied'; readonly effect: JsonObject } | { readonly kind: 'sealed' } | { readonly kind: 'broken' };

/**
 * Inserts the marker, which locks the change until the end of the transaction. Waits up to the lock timeout of the session for
 * another attempt, and lowers it to `lockTimeoutMs` then. Returns the id of the transaction, or null if the marker already exists.
 */
export async function takeMarker(session: Session, changeId: string, lockTimeoutMs: number): Promise<string | null> {
  const [taken] = await session.own(
    `INSERT INTO countersign.marker (change_id) VALUES ($1) ON CONFLICT DO NOTHING
     RETURNING pg_catalog.txid_current()::text, pg_catalog.set_config('lock_timeout', $2, true)`,
    [changeId, `${lockTimeoutMs}ms`],
  );
  return taken?.[0] ?? null;
}

export async function readMarker(session: Session, changeId: string): Promise<Marker | null> {
  const [row] = await session.own('SELECT effect::text FROM countersign.marker WHERE change_id = $1', [changeId]);
  if (row === undefined) return null;
  const [effect] = row;
  // Countersign never commits a marker without an effect, so another client wrote this row and it proves nothing.
  if (effect === null || effect === undefined) return { kind: 'broken' };
  const parsed = JSON.parse(effect) as JsonObject;
  return parsed['sealed'] === true ? { kind: 'sealed' } : { kind: 'applied', effect: parsed };
}

/** Stores the effect in the marker inserted by this transaction. */
export async function writeEffect(session: Session, changeId: string, effect: JsonObject): Promise<void> {
  const written = await session.own(
    'UPDATE countersign.marker SET effect = $2::jsonb WHERE change_id = $1 RETURNING change_id',
    [changeId, JSON.stringify(effect)],
  );
  if (written.length !== 1) throw new Error(`The marker of ${changeId} is missing in the transaction that inserted it`);
}

export const SEALED: JsonObject = { sealed: true };
