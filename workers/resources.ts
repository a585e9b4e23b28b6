import { createByteStore } from '../storage/store/byte-store';
import { databaseClock, openDatabase, type Database } from '../storage/database/database';
import { createKeyRegistry } from '../storage/keys/key-registry';
import { ledgerWithAdvisoryLock } from '../storage/ledger/with-advisory-lock';
import { createLedger } from '../storage/ledger/ledger';
import { createPlanSource, type PlanSource } from '../storage/plans/plan-source';
import { operatorVerifier, storedRevisions } from '../storage/plans/stored-revisions';
import type { ByteStore } from '../policy/evidence/byte-store';
import type { KeyRegistry } from '../policy/evidence/key-registry';
import type { WithAdvisoryLock, Ledger } from '../policy/evidence/ledger-port';
import { compileText } from './compile';
import type { Extensions } from './extensions';
import type { Logger } from './logger';
import type { OperatorKey } from '../signing/operator-key';

/** What every process opens: one pool on the Countersign database, with the role of that process. */
export interface Resources {
  readonly db: Database;
  readonly store: ByteStore;
  readonly ledger: Ledger;
  readonly withAdvisoryLock: WithAdvisoryLock;
  readonly keys: KeyRegistry;
  readonly plans: PlanSource;
  /** Public keys of the operators that this process trusts. */
  readonly operators: readonly OperatorKey[];
  readonly now: () => Date;
  readonly databaseNow: () => Promise<Date>;
}

interface ResourceOptions {
  readonly databaseUrl: string;
  readonly applicationName: string;
  readonly trustedOperators: readonly OperatorKey[];
  readonly extensions: Extensions;
  readonly logger: Logger;
  readonly poolSize?: number;
}

export function openResources(options: ResourceOptions): Resources {
  const { trustedOperators, extensions, logger } = options;
  const db = openDatabase({
    url: options.databaseUrl,
    applicationName: options.applicationName,
    ...(options.poolSize === undefined ? {} : { max: options.poolSize }),
  });
  const keys = createKeyRegistry({
    db,
    trustedOperators,
    now: Date.now,
    report: (ignored) => logger.warn(ignored, 'A row of the key registry is ignored: no trusted operator signed it'),
  });
  const plans = createPlanSource({
    revisions: storedRevisions(db),
    ...operatorVerifier(trustedOperators),
    compile: (text, target, sourceTool) => compileText(text, extensions, target, sourceTool),
    now: Date.now,
  });
  return {
    db,
    store: createByteStore(db),
    ledger: createLedger(db),
    withAdvisoryLock: ledgerWithAdvisoryLock(db),
    keys,
    plans,
    operators: trustedOperators,
    now: () => new Date(),
    databaseNow: databaseClock(db),
  };
}
