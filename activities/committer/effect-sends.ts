import type { Queryable } from '../../storage/database/database';
import type { Sends } from '../../policy/contracts/target-effects';

/** One row for each change, written once: the first write wins across all committers. */
export function effectSends(db: Queryable): (changeId: string) => Sends {
  const write = async (changeId: string, state: 'sent' | 'sealed'): Promise<'sent' | 'sealed' | 'written'> => {
    const { rowCount } = await db.query(
      'insert into effect_sends (change_id, state) values ($1, $2) on conflict do nothing',
      [changeId, state],
    );
    if (rowCount === 1) return 'written';
    const existing = await read(changeId);
    if (existing === 'none') throw new Error(`The row of ${changeId} in effect_sends was deleted while it was read`);
    return existing;
  };
  const read = async (changeId: string): Promise<'none' | 'sent' | 'sealed'> => {
    const { rows } = await db.query<{ state: 'sent' | 'sealed' }>(
      'select state from effect_sends where change_id = $1',
      [changeId],
    );
    return rows[0]?.state ?? 'none';
  };
  return (changeId) => ({
    async begin() {
      const written = await write(changeId, 'sent');
      if (written === 'written') return 'first';
      return written === 'sent' ? 'again' : 'sealed';
    },
    async seal() {
      return (await write(changeId, 'sealed')) === 'sent' ? 'sent' : 'sealed';
    },
    state: () => read(changeId),
  });
}
