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

/** Inserts the marker, which locks the change until the end of the transaction. False if it already exists. Waits up to `waitMs` for another attempt. */
export async function takeMarker(session: Session, changeId: string, waitMs: number): Promise<boolean> {
  const [previous] = await session.rows(
    `SELECT pg_catalog.current_setting('lock_timeout'), pg_catalog.set_config('lock_timeout', $1, true)`,
    [`${waitMs}ms`],
  );
  const { rowCount } = await session.run({
    text: 'INSERT INTO countersign.marker (change_id) VALUES ($1) ON CONFLICT DO NOTHING',
    values: [changeId],
  });
  await session.rows(`SELECT pg_catalog.set_config('lock_timeout', $1, true)`, [previous?.[0] ?? '1s']);
  return rowCount === 1;
}

export async function readMarker(session: Session, changeId: string): Promise<Marker | null> {
  const [row] = await session.rows('SELECT effect::text FROM countersign.marker WHERE change_id = $1', [changeId]);
  if (row === undefined) return null;
  const [effect] = row;
  // Countersign never commits a marker without an effect, so another client wrote this row and it proves nothing.
  if (effect === null || effect === undefined) return { kind: 'broken' };
  const parsed = JSON.parse(effect) as JsonObject;
  return parsed['sealed'] === true ? { kind: 'sealed' } : { kind: 'applied', effect: parsed };
}

/** Stores the effect in the marker inserted by this transaction. */
export async function writeEffect(session: Session, changeId: string, effect: JsonObject): Promise<void> {
  const { rowCount } = await session.run({
    text: 'UPDATE countersign.marker SET effect = $2::jsonb WHERE change_id = $1',
    values: [changeId, JSON.stringify(effect)],
  });
  if (rowCount !== 1) throw new Error(`The marker of ${changeId} is missing in the transaction that inserted it`);
}

export const SEALED: JsonObject = { sealed: true };
