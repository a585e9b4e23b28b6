import { createAnswerActivities } from '../../activities/review/admit-answer';
import { createWithdrawalActivities } from '../../activities/review/admit-withdrawal';
import { usableAttestor, type Attestor } from '../../activities/attestation';
import { createStatementActivities } from '../../activities/review/read-statements';
import { createDisclosureActivities } from '../../activities/review/disclose';
import type { Derivation } from '../../activities/review/derivation';
import { createGuardianActivities } from '../../activities/review/run-guardians';
import { createOpeningActivities } from '../../activities/review/open-review';
import { recordFailures } from '../../activities/record-failures';
import type { ReviewActivities } from '../../activities/review-types';
import type { BreakerStore } from '../../storage/breakers/breakers';
import { ledgerWithChangeLock } from '../../storage/ledger/with-change-lock';
import type { Extensions } from '../extensions';
import type { Resources } from '../resources';

interface ReviewRole {
  readonly resources: Resources;
  readonly extensions: Extensions;
  readonly attestor: Attestor;
  /** Null: circuit breakers are off. */
  readonly breakers: BreakerStore | null;
  /** Null: diffs are parsed on this thread. */
  readonly threads: Derivation | null;
}

/** Activities of the queue `countersign-review`. The review worker has no credentials of targets. */
export function reviewActivities({ resources, extensions, attestor, breakers, threads }: ReviewRole): ReviewActivities {
  const { db, store, ledger, withAdvisoryLock, keys, plans, now, databaseNow } = resources;
  const { validators, callbacks, sourceTools: tools } = extensions;
  const usable = usableAttestor(attestor, keys);
  const activities: ReviewActivities = {
    ...createOpeningActivities({
      store,
      ledger,
      withAdvisoryLock,
      plans,
      tools,
      validators,
      threads,
      keys,
      attestor: usable,
      breakers,
      now,
    }),
    ...createGuardianActivities({ store, ledger, plans, tools, validators, threads, now }),
    ...createDisclosureActivities({
      store,
      ledger,
      withChangeLock: ledgerWithChangeLock(db),
      plans,
      tools,
      validators,
      threads,
      callbacks,
      keys,
      attestor: usable,
      now,
      databaseNow,
    }),
    ...createAnswerActivities({ ledger, keys, plans, databaseNow }),
    ...createWithdrawalActivities({ ledger, keys, plans, databaseNow }),
    ...createStatementActivities({ ledger, keys, plans, databaseNow }),
  };
  return recordFailures({ ledger, now }, activities);
}
