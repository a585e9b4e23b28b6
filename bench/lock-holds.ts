import { beginRollback, closeRolledBack } from '../activities/committer/settlement';
import { factsOfRows } from '../activities/committer/receipt-facts';
import type { Countersign } from '../client/countersign';
import { openRoles, roleSetup } from '../dev/local-roles';
import type { DevSetup } from '../dev/setup';
import { createBreakers } from '../storage/breakers/breakers';
import { ledgerWithChangeLock } from '../storage/ledger/with-change-lock';
import { reviewActivities } from '../workers/roles/review';
import { attestorWith, receiptSignerWith } from '../workers/signers';
import { spread } from './measure';
import { itemChange } from './shop';

/** Median milliseconds for which a review has a lock that other reviews may wait for. */
export interface LockHolds {
  /** The locks of activities/review/opening-locks.ts. */
  readonly openingMs: number;
  /** The transaction that ends a change. Its trigger locks tenant and source tool for a part of it. */
  readonly endingMs: number;
}

/** Opens and rolls back `changes` changes in this process, with the real activities on the real database, without workflows. */
export async function measureLockHolds(setup: DevSetup, countersign: Countersign, changes: number): Promise<LockHolds> {
  const { extensions, resources, close } = openRoles(roleSetup(setup), { applicationName: 'bench' });
  const { review, commit } = resources;
  const { keys } = setup;
  const [opening, ending] = [[] as number[], [] as number[]];
  const { openReview } = reviewActivities({
    resources: { ...review, withAdvisoryLock: timed(review.withAdvisoryLock, opening) },
    extensions,
    attestor: attestorWith(keys['attestor-review'].key),
    breakers: null,
    threads: null,
  });
  const settlement = {
    ...commit,
    withChangeLock: timed(ledgerWithChangeLock(commit.db), ending),
    receipts: receiptSignerWith(keys.committer.key),
    breakerRows: createBreakers({ db: commit.db, operators: commit.operators }),
  };
  try {
    for (let i = 0; i < changes; i++) {
      const { changeId, submission, bytes } = countersign.prepare(itemChange(1, `stock = ${i}`));
      await review.store.put(submission.tenant, bytes);
      await openReview({ changeId, submission });
      const facts = factsOfRows(await commit.ledger.read(changeId), changeId);
      if (facts === null) throw new Error(`The change ${changeId} was not opened`);
      const end = { reason: 'withdrawn', explanation: 'measured' } as const;
      await beginRollback(settlement, changeId, end);
      await closeRolledBack(settlement, facts, end.reason, end.explanation);
    }
  } finally {
    await close();
  }
  return { openingMs: spread(opening).p50, endingMs: spread(ending).p50 };
}

/** Adds the time from the acquisition of the locks to the end of the transaction. */
function timed<L, W extends readonly unknown[]>(
  withLock: <T>(locked: L, work: (...given: W) => Promise<T>) => Promise<T>,
  samples: number[],
): <T>(locked: L, work: (...given: W) => Promise<T>) => Promise<T> {
  return async (locked, work) => {
    let acquired = 0;
    const result = await withLock(locked, (...given) => {
      acquired = performance.now();
      return work(...given);
    });
    samples.push(performance.now() - acquired);
    return result;
  };
}
