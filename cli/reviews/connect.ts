import { openDatabase } from '../../storage/database/database';
import { createByteStore } from '../../storage/store/byte-store';
import { Countersign } from '../../client/countersign';
import { createSigner } from '../../client/signer';
import type { StoredRow } from '../../policy/evidence/chain';
import { TASK_QUEUES } from '../../policy/contracts/queues';
import { clientLedger } from '../../workers/client-ledger';
import type { Env } from '../../workers/config';
import { localClient } from '../../workers/local-client';
import { openClient } from '../../workers/temporal';
import { loadKey } from '../key-files';

export interface ConnectOptions {
  readonly tenant?: string | undefined;
  /** A service key file; submissions are signed with it. */
  readonly serviceKey?: string | undefined;
}

/** Connections of one command to Temporal, store and ledger. */
export interface Connected {
  readonly reviews: Pick<Countersign, 'submit' | 'review' | 'bundle' | 'answer' | 'withdraw' | 'result' | 'list'>;
  readonly ledgerRows: (changeId: string) => Promise<readonly StoredRow[]>;
  /** Temporal's address and namespace, for the commands that `sign` prints. */
  readonly address: string;
  readonly namespace: string;
  readonly close: () => Promise<void>;
}

/** Opens connections lazily, with the database role of the gateway. */
export function connect(env: Env, options: ConnectOptions): Connected {
  const local = localClient(env);
  const temporal = openClient({ ...env, TEMPORAL_ADDRESS: local.temporalAddress, TEMPORAL_NAMESPACE: local.namespace });
  const db = openDatabase({ url: local.databaseUrl, applicationName: 'countersign-cli', max: 2 });
  const ledger = clientLedger({
    db,
    databaseUrl: local.databaseUrl,
    applicationName: 'countersign-cli',
    operators: local.operators,
    now: () => new Date(),
  });
  const store = createByteStore(db);
  return {
    reviews: new Countersign({
      temporal,
      tenant: options.tenant ?? local.tenant,
      taskQueue: TASK_QUEUES.review + (env['COUNTERSIGN_QUEUE_SUFFIX'] ?? ''),
      store,
      serviceKey: options.serviceKey === undefined ? null : createSigner(loadKey(env, options.serviceKey)),
      ledger,
      trust: { operators: local.operators, committers: local.committers },
    }),
    ledgerRows: (changeId) => ledger.rows(changeId),
    address: local.temporalAddress,
    namespace: local.namespace,
    close: async () => {
      await ledger.close();
      await temporal.connection.close();
      await db.close();
    },
  };
}
