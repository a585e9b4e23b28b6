/**
 * The marker: one row per change in the target itself, in the transaction of the effect. It is what makes an effect
 * happen at most once, and what tells afterwards whether it did.
 *
 * M1 The marker is the first write of a commit: a second attempt waits on it, then reads the first one's effect.
 * M2 Its effect is written once (a trigger of `initTarget` refuses a second time), before COMMIT.
 * M3 A sealed marker stands for "never": no attempt, however late, applies the change.
 */
import type { JsonObject } from '../../../policy/contracts/canonical-json';
import type { Session } from './session';

/** The schema of the marker in a target; no change may write to it. */
export const OWN_SCHEMA = 'countersign';

export type Marker =
  { readonly kind: 'applied'; readonly effect: JsonObject } | { readonly kind: 'sealed' } | { readonly kind: 'broken' };

/** Takes the marker. True: it is ours, and holds until the end of the transaction. False: it stands there already. Waits for another attempt up to `waitMs`. */
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
  // Only we write here, and never without an effect: a bare row is somebody else's, and proves nothing.
  if (effect === null || effect === undefined) return { kind: 'broken' };
  const parsed = JSON.parse(effect) as JsonObject;
  return parsed['sealed'] === true ? { kind: 'sealed' } : { kind: 'applied', effect: parsed };
}

/** Stores the effect in the marker that this transaction took. */
export async function writeEffect(session: Session, changeId: string, effect: JsonObject): Promise<void> {
  const { rowCount } = await session.run({
    text: 'UPDATE countersign.marker SET effect = $2::jsonb WHERE change_id = $1',
    values: [changeId, JSON.stringify(effect)],
  });
  if (rowCount !== 1) throw new Error(`The marker of ${changeId} vanished inside its own transaction`);
}

export const SEALED: JsonObject = { sealed: true };
