import type { Database, Queryable } from '../../storage/database/database';
import type { Sends, SendState } from '../../policy/contracts/target-effects';

interface Row {
  readonly state: 'sent' | 'sealed';
}

/**
 * Rows that are written before a request is sent, and to forbid it, across all committers.
 *
 * F1 The rows of a change are read and written under one lock, so each writer sees the rows of all earlier ones: no request begins
 *    after the seal, and the seal sees every request that began before it.
 * F2 Rows are only added. A row `sent` without a request, after a crash, makes the seal look at the target, and no attempt send.
 */
export function effectSends(db: Database): (changeId: string) => Sends {
  return (changeId) => {
    const rowsIn = async (from: Queryable): Promise<readonly Row[]> =>
      (await from.query<Row & { n: number }>('select state, n from effect_sends where change_id = $1', [changeId]))
        .rows;
    const insert = async (into: Queryable, state: Row['state'], n = 0): Promise<void> => {
      await into.query('insert into effect_sends (change_id, state, n) values ($1, $2, $3)', [changeId, state, n]);
    };
    const locked = <T>(work: (tx: Queryable, rows: readonly Row[]) => Promise<T>): Promise<T> =>
      db.transaction(async (tx) => {
        await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
          `countersign/effect-sends/${changeId}`,
        ]);
        return work(tx, await rowsIn(tx));
      });
    return {
      state: async () => stateOf(await rowsIn(db)),
      begin: ({ resend }) =>
        locked(async (tx, rows) => {
          const { sent, sealed } = stateOf(rows);
          if (sealed) return { kind: 'sealed' };
          if (sent && !resend) return { kind: 'sent' };
          await insert(tx, 'sent', rows.length + 1);
          return { kind: 'begun', again: sent };
        }),
      seal: () =>
        locked(async (tx, rows) => {
          const state = stateOf(rows);
          if (!state.sealed) await insert(tx, 'sealed');
          return { ...state, sealed: true };
        }),
    };
  };
}

function stateOf(rows: readonly Row[]): SendState {
  return { sent: rows.some(({ state }) => state === 'sent'), sealed: rows.some(({ state }) => state === 'sealed') };
}
