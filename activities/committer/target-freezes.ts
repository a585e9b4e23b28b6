/**
 * Freezes of targets: signed by an operator, read by the committer before each attempt to commit and immediately before its effect.
 *
 * Z1 While a target is frozen, no effect begins or is retried there. Effects that were applied are still read back and settled.
 * Z2 The number of a row is part of the signed statement, so that rows cannot be reordered. A row without the signature of a
 *    trusted operator is ignored. The database takes only the next number, so that no row leaves the operator without one.
 * Z3 Fails closed: if too many ignored rows precede the newest valid one, it is unknown whether the target is frozen, and
 *    nothing begins there.
 */
import type { Envelope } from '../../policy/contracts/diff';
import type { TargetFreeze } from '../../policy/evidence/predicates';
import { signPredicate } from '../../signing/envelope';
import type { SigningKey } from '../../signing/keys';
import { signedByOperator } from '../../signing/signed-by';
import type { Queryable } from '../../storage/database/database';
import { toWellFormed } from '../../policy/contracts/canonical-json';
import { targetUnavailable } from '../../source-tools/target-failure';
import type { Ledger } from '../../policy/evidence/ledger-port';
import type { OperatorKey } from '../../signing/operator-key';

/** Bound of the search for the newest valid row (Z3). */
const MAX_ROWS = 1_000;

export interface TargetFreezes {
  /** The current freeze; null if the target is not frozen, `'unknown'` in the case of Z3. */
  readonly current: (target: string) => Promise<TargetFreeze | 'unknown' | null>;
}

export function targetFreezes(db: Queryable, operators: readonly OperatorKey[]): TargetFreezes {
  return {
    async current(target) {
      const { rows } = await db.query<{ n: number; envelope: Envelope; added_at: Date }>(
        'select n, envelope, added_at from target_freezes where target = $1 order by n desc limit $2',
        [target, MAX_ROWS],
        'target_freezes',
      );
      for (const { n, envelope, added_at } of rows) {
        const freeze = signedByOperator('target-freeze', envelope, operators, added_at.toISOString());
        if (freeze?.target === target && freeze.n === n) return freeze.frozen ? freeze : null;
      }
      return rows.length < MAX_ROWS ? null : 'unknown';
    },
  };
}

/** Freezes or unfreezes under the next number. If two run concurrently, one is refused by the database and can be retried. */
export async function recordFreeze(
  db: Queryable,
  freeze: Omit<TargetFreeze, 'n' | 'keyId'>,
  operator: SigningKey,
): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    'select coalesce(max(n), 0) + 1 as n from target_freezes where target = $1',
    [freeze.target],
  );
  const n = Number(rows[0]?.n ?? 1);
  const envelope = signPredicate('target-freeze', { ...freeze, n, keyId: operator.keyId }, operator);
  await db.query('insert into target_freezes (target, n, envelope) values ($1, $2, $3)', [
    freeze.target,
    n,
    JSON.stringify(envelope),
  ]);
  return n;
}

/**
 * Runs before the intent of each attempt, and again before its effect. Throws TARGET_UNAVAILABLE, retried until the plan's commit
 * window ends, and records the refusal: if the freeze is lifted in time, no answer is lost; otherwise the review rolls back.
 */
export async function assertNotFrozen(
  deps: { readonly freezes: TargetFreezes; readonly ledger: Pick<Ledger, 'append'>; readonly now: () => Date },
  changeId: string,
  target: string,
): Promise<void> {
  const freeze = await deps.freezes.current(target);
  if (freeze === null) return;
  const explanation = freezeText(freeze);
  await deps.ledger.append(changeId, [
    {
      kind: 'refused',
      at: deps.now().toISOString(),
      factKey: `refused:target_frozen:${freeze === 'unknown' ? freeze : freeze.n}`,
      body: { check: 'target_frozen', explanation },
    },
  ]);
  throw targetUnavailable(target, explanation);
}

export function freezeText(freeze: TargetFreeze | 'unknown'): string {
  if (freeze === 'unknown')
    return 'it is unknown whether it is frozen, because its latest freezes lack the signature of a trusted operator: freeze or unfreeze it again';
  return `it is frozen since ${freeze.at}: ${toWellFormed(freeze.reason)}`;
}
