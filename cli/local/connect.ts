import { openDatabase } from '../../storage/database/database';
import { createLedger } from '../../storage/ledger/ledger';
import { createByteStore } from '../../storage/store/byte-store';
import type { Connected, ConnectOptions } from '../deps';
import { Countersign } from '../../client/countersign';
import { createSigner, type Signer } from '../../client/signer';
import { readKeyFile } from '../../signing/key-file';
import { TASK_QUEUES } from '../../policy/contracts/queues';
import { clientLedger } from '../../workers/client-ledger';
import type { Env } from '../../workers/config';
import { localClient } from '../../workers/local-client';
import { openClient } from '../../workers/temporal';

/** Temporal, store and ledger for one command, with the rights of the gateway's role. */
export async function connect(env: Env, options: ConnectOptions): Promise<Connected> {
  const local = localClient(env);
  const temporal = openClient({ ...env, TEMPORAL_ADDRESS: local.temporalAddress, TEMPORAL_NAMESPACE: local.namespace });
  const db = openDatabase({ url: local.databaseUrl, applicationName: 'countersign-cli', max: 2 });
  const ledger = createLedger(db);
  const store = createByteStore(db);
  const reviews = new Countersign({
    temporal,
    tenant: options.tenant ?? local.tenant,
    taskQueue: TASK_QUEUES.review + (env['COUNTERSIGN_QUEUE_SUFFIX'] ?? ''),
    store,
    serviceKey: options.serviceKey === undefined ? null : await loadSigner(env, options.serviceKey),
    ledger: clientLedger(ledger, () => new Date(), 'cli'),
    trust: { committers: local.committers },
  });
  return {
    reviews,
    bytes: (tenant, digest) => store.get(tenant, digest),
    ledgerRows: (changeId) => ledger.read(changeId),
    address: local.temporalAddress,
    namespace: local.namespace,
    close: async () => {
      await temporal.connection.close();
      await db.close();
    },
  };
}

/** A key file; its passphrase comes from COUNTERSIGN_KEY_PASSPHRASE. */
export async function loadSigner(env: Env, path: string): Promise<Signer> {
  const passphrase = env['COUNTERSIGN_KEY_PASSPHRASE'];
  return createSigner(readKeyFile(path, passphrase === undefined ? {} : { passphrase }));
}
