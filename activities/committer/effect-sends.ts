import type { Database, Queryable } from '../../storage/database/database';
import type { Sends, SendState } from '../../policy/contracts/target-effects';

interface Row {
  readonly state: 'sent' | 'unsent' | 'undoing' | 'sealed';
  /** Number of the request, for `sent` and `unsent`; otherwise 0. */
  readonly n: number;
  /** Only for `undoing`. */
  readonly explanation: string | null;
}

/**
 * Rows that are written before a request is sent, and to forbid it, across all committers.
 *
 * F1 The rows of a change are read and written under one lock, and transactions are `read committed`, so each writer sees the rows of
 *    all earlier ones: no request begins after the seal, the seal sees every request that began before it, and of `undoing` and `sealed`
 *    only the first forbids the other.
 * F2 Rows are only added. After a crash a row `sent` remains without a request; then no attempt sends, and the seal looks at the target.
 */
export function effectSends(db: Database): (changeId: string) => Sends {
  return (changeId) => {
    const rowsIn = async (from: Queryable): Promise<readonly Row[]> =>
      (await from.query<Row>('select state, n, explanation from effect_sends where change_id = $1', [changeId])).rows;
    const insert = async (into: Queryable, { state, n, explanation }: Row): Promise<void> => {
      // As JSON, because a text column takes no NUL.
      const json = explanation === null ? null : JSON.stringify(explanation);
      await into.query('insert into effect_sends (change_id, state, n, explanation) values ($1, $2, $3, $4)', [
        changeId,
        state,
        n,
        json,
      ]);
    };
    const locked = <T>(work: (tx: Queryable, rows: readonly Row[]) => Promise<T>): Promise<T> =>
      db.transaction(async (tx) => {
        const lock = `countersign/effect-sends/${changeId}`;
        await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [lock]);
        return work(tx, await rowsIn(tx));
      });
    return {
      state: async () => stateOf(await rowsIn(db)),
      begin: ({ resend }) =>
        locked(async (tx, rows) => {
          const { sent, undoing, sealed } = stateOf(rows);
          if (sealed || undoing !== null) return { kind: 'sealed' };
          if (sent && !resend) return { kind: 'sent' };
          const n = 1 + rows.filter(({ state }) => state === 'sent').length;
          await insert(tx, { state: 'sent', n, explanation: null });
          const takeBack = (): Promise<void> => insert(db, { state: 'unsent', n, explanation: null });
          return { kind: 'begun', again: sent, takeBack };
        }),
      beginUndo: (explanation) =>
        locked(async (tx, rows) => {
          const { undoing, sealed } = stateOf(rows);
          if (sealed || undoing !== null) return false;
          await insert(tx, { state: 'undoing', n: 0, explanation });
          return true;
        }),
      seal: () =>
        locked(async (tx, rows) => {
          const state = stateOf(rows);
          if (!state.sealed) await insert(tx, { state: 'sealed', n: 0, explanation: null });
          return { ...state, sealed: true };
        }),
    };
  };
}

function stateOf(rows: readonly Row[]): SendState {
  const takenBack = new Set(rows.filter(({ state }) => state === 'unsent').map(({ n }) => n));
  return {
    sent: rows.some(({ state, n }) => state === 'sent' && !takenBack.has(n)),
    undoing: rows.find(({ state }) => state === 'undoing')?.explanation ?? null,
    sealed: rows.some(({ state }) => state === 'sealed'),
  };
}
