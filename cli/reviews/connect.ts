import { openDatabase } from '../../storage/database/database';
import { createByteStore } from '../../storage/store/byte-store';
import { Countersign } from '../../client/countersign';
import { createSigner } from '../../client/signer';
import { TASK_QUEUES } from '../../policy/contracts/queues';
import { clientLedger } from '../../workers/client-ledger';
import type { Env } from '../../workers/config';
import { payloadKeys } from '../../workers/encryption/key-ring';
import { localClient } from '../../workers/local-client';
import { loadKey } from '../key-files';
import { openTemporal } from '../temporal';
import type { Connected, ConnectOptions } from './connection';

/** Opens connections lazily, with the database role of the gateway. */
export function connect(env: Env, options: ConnectOptions): Connected {
  const local = localClient(env);
  const temporal = openTemporal(env, local);
  const db = openDatabase({ url: local.databaseUrl, applicationName: 'countersign-cli', max: 2 });
  const ledger = clientLedger({
    db,
    databaseUrl: local.databaseUrl,
    applicationName: 'countersign-cli',
    operators: local.operators,
    payloadKeys: payloadKeys(env),
    now: () => new Date(),
  });
  const store = createByteStore(db);
  const serviceKey = options.key === undefined ? null : createSigner(loadKey(env, options.key));
  return {
    reviews: new Countersign({
      temporal,
      tenant: options.tenant ?? local.tenant,
      taskQueue: TASK_QUEUES.review + (env['COUNTERSIGN_QUEUE_SUFFIX'] ?? ''),
      store,
      serviceKey,
      ledger,
      trust: { operators: local.operators, committers: local.committers },
    }),
    ledgerRows: (changeId) => ledger.rows(changeId),
    evidence: async (changeId, asked, log) => {
      const { exportBundle } = await import('../evidence/bundles.js');
      return await exportBundle(env, changeId, asked, log);
    },
    keyFile: options.key ?? null,
    keyId: serviceKey?.keyId ?? null,
    temporal: { address: local.temporalAddress, namespace: local.namespace },
    close: async () => {
      await ledger.close();
      await temporal.connection.close();
      await db.close();
    },
  };
}
