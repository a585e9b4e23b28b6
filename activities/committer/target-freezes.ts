/**
 * Freezes of targets: signed by an operator, read by the committer before it begins anything.
 *
 * Z1 While a target is frozen no effect begins there, and none that has begun is tried again; what was applied is still
 *    read back and settled.
 * Z2 Rows count by the number that is signed with them, so that none can be put in another's place; a row that no trusted
 *    operator signed counts for nothing.
 * Z3 Where so many such rows lie above that the one that counts is not found, nobody knows whether the target is frozen,
 *    and nothing begins there.
 */
import type { Envelope } from '../../policy/contracts/diff';
import type { TargetFreeze } from '../../policy/evidence/predicates';
import { signPredicate } from '../../signing/envelope';
import type { SigningKey } from '../../signing/keys';
import { signedByOperator } from '../../signing/operator-verify';
import type { Queryable } from '../../storage/database/database';

/** Rows that nobody trusted signed could stand above the one that counts. */
const MAX_ROWS = 1_000;

export interface TargetFreezes {
  /** The freeze that stands now; null where the target is not frozen, `'unknown'` as Z3 says. */
  readonly current: (target: string) => Promise<TargetFreeze | 'unknown' | null>;
}

export function targetFreezes(db: Queryable, operators: readonly string[]): TargetFreezes {
  return {
    async current(target) {
      const { rows } = await db.query<{ n: number; envelope: Envelope }>(
        'select n, envelope from target_freezes where target = $1 order by n desc limit $2',
        [target, MAX_ROWS],
        'target_freezes',
      );
      for (const { n, envelope } of rows) {
        const said = signedByOperator('target-freeze', envelope, operators);
        if (said !== null && said.target === target && said.n === n) return said.frozen ? said : null;
      }
      return rows.length < MAX_ROWS ? null : 'unknown';
    },
  };
}

/** Freezes or unfreezes under the next number; of two at once one is refused by the table, and may be tried again. */
export async function recordFreeze(
  db: Queryable,
  said: Omit<TargetFreeze, 'n' | 'keyId'>,
  operator: SigningKey,
): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    'select coalesce(max(n), 0) + 1 as n from target_freezes where target = $1',
    [said.target],
  );
  const n = Number(rows[0]?.n ?? 1);
  const envelope = signPredicate('target-freeze', { ...said, n, keyId: operator.keyId }, operator);
  await db.query('insert into target_freezes (target, n, envelope) values ($1, $2, $3)', [
    said.target,
    n,
    JSON.stringify(envelope),
  ]);
  return n;
}
