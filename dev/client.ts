import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type ConnectionOptions,
} from '@temporalio/client';
import { Countersign } from '../client/countersign';
import { isTransient } from '../client/errors';
import type { ReviewResult } from '../client/result';
import { createSigner } from '../client/signer';
import { TASK_QUEUES } from '../policy/contracts/queues';
import type { ReviewStatus } from '../policy/contracts/status';
import type { ByteStore } from '../policy/evidence/byte-store';
import type { KeyRegistry } from '../policy/evidence/key-registry';
import type { Ledger } from '../policy/evidence/ledger-port';
import { ANY_TENANT } from '../policy/evidence/predicates';
import type { KeyLabel } from '../signing/key-file';
import { newKeyPair, type SigningKey } from '../signing/keys';
import { fullGrant, signKeyEntry, signKeyRevocation } from '../signing/registry-entry';
import { openDatabase, withDatabase } from '../storage/database/database';
import { createKeyRegistry } from '../storage/keys/key-registry';
import { createLedger } from '../storage/ledger/ledger';
import { createByteStore } from '../storage/store/byte-store';
import type { KeyRing } from '../storage/store/preview-cipher';
import { clientLedger } from '../workers/client-ledger';
import { createPayloadCodec } from '../workers/encryption/payload-codec';
import type { DevSetup } from './setup';

/** What a new key is for. By default a demo key that acts on no one's behalf. */
type NewKeyLabel = Pick<KeyLabel, 'kind' | 'subject'> & Partial<KeyLabel>;

type ServiceKey = SigningKey & { readonly onBehalfOf?: string | null };

interface DevClientOptions {
  readonly setup: DevSetup;
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly applicationName: string;
  /** Of the task queues. */
  readonly suffix?: string;
  /** Default `default`. */
  readonly tenant?: string;
  readonly payloadKeys?: KeyRing | undefined;
  /** Replaces the connection string of the gateway's role. */
  readonly databaseUrl?: string;
}

/** What the agent's backend, approvers and the operator of a development set-up work with. */
export interface DevClient {
  readonly connection: Connection;
  readonly temporal: Client;
  readonly store: ByteStore;
  readonly ledger: Ledger;
  /** Submits with the key of the demo agent. */
  readonly countersign: Countersign;
  /** Submits with another service key, or unsigned. */
  as(serviceKey: ServiceKey | null): Countersign;
  asOperator<T>(work: (registry: KeyRegistry) => Promise<T>): Promise<T>;
  /** Makes a key and registers it with every right of its kind, in every tenant. */
  addKey(label: NewKeyLabel): Promise<SigningKey & KeyLabel>;
  revokeKey(keyId: string): Promise<void>;
  /** Whether violations are disclosed, or the review has ended. Reads the ledger: each query to a workflow costs a task. */
  isDisclosed(changeId: string): Promise<boolean>;
  /**
   * Waits until violations are disclosed and a person must answer; looks every `everyMs`, by default 50. Throws if the review ends, or after
   * `withinMs`.
   */
  waiting(changeId: string, withinMs: number, everyMs?: number): Promise<ReviewStatus>;
  /** Waits for the outcome. Throws if it is not there after `withinMs`. */
  ended(changeId: string, withinMs: number): Promise<Exclude<ReviewResult, { state: 'PENDING' }>>;
  close(): Promise<void>;
}

export async function openDevClient(options: DevClientOptions): Promise<DevClient> {
  const { setup, applicationName, payloadKeys } = options;
  const { interceptors, drained } = callsInFlight();
  const connection = await Connection.connect({ address: options.temporalAddress, interceptors });
  const converter =
    payloadKeys === undefined ? {} : { dataConverter: { payloadCodecs: [createPayloadCodec(payloadKeys)] } };
  const temporal = new Client({ connection, namespace: options.namespace, ...converter });
  const db = openDatabase({ url: options.databaseUrl ?? setup.databaseUrls.cs_gateway, applicationName });
  const [store, ledger] = [createByteStore(db), createLedger(db)];
  const { operator, committer, agent } = setup.keys;
  const recorded = clientLedger({
    db,
    databaseUrl: options.databaseUrl ?? setup.databaseUrls.cs_gateway,
    applicationName,
    operators: [operator.key.publicKey],
    payloadKeys: payloadKeys ?? null,
    now: () => new Date(),
  });
  const as = (serviceKey: ServiceKey | null): Countersign =>
    new Countersign({
      temporal,
      tenant: options.tenant ?? 'default',
      taskQueue: TASK_QUEUES.review + (options.suffix ?? ''),
      store,
      serviceKey: serviceKey === null ? null : createSigner(serviceKey),
      ledger: recorded,
      trust: { operators: [operator.key.publicKey], committers: [committer.key.publicKey] },
    });
  const countersign = as(agent.key);
  const isDisclosed = async (changeId: string): Promise<boolean> =>
    (await ledger.readKinds(changeId, ['disclosed', 'closed'])).length > 0;
  const asOperator: DevClient['asOperator'] = (work) => {
    const trustedOperators = [operator.key.publicKey];
    return withDatabase({ url: setup.databaseUrls.cs_operator, applicationName }, (operatorDb) =>
      work(createKeyRegistry({ db: operatorDb, trustedOperators, now: Date.now })),
    );
  };
  return {
    connection,
    temporal,
    store,
    ledger,
    countersign,
    as,
    isDisclosed,
    asOperator,
    async addKey(label) {
      const key = { ...newKeyPair(), onBehalfOf: null, demo: true, ...label };
      const entry = { ...key, ...fullGrant(key.kind, [ANY_TENANT]), addedAt: new Date().toISOString() };
      await asOperator((registry) => registry.add(signKeyEntry(entry, operator.key)));
      return key;
    },
    async revokeKey(keyId) {
      const revocation = { keyId, reason: 'left', revokedAt: new Date().toISOString() };
      await asOperator((registry) => registry.revoke(signKeyRevocation(revocation, operator.key)));
    },
    async waiting(changeId, withinMs, everyMs = 50) {
      for (const until = Date.now() + withinMs; Date.now() < until; await sleep(everyMs)) {
        const status = (await isDisclosed(changeId)) ? await statusIfAnswered(countersign, changeId) : null;
        if (status === null) continue;
        if (status.fingerprint !== null && status.state === 'INTERVENTION_REQUIRED') return status;
        if (!['RUNNING', 'INTERVENTION_REQUIRED'].includes(status.state))
          throw new Error(`The review ${changeId} is ${status.state}: ${status.reason ?? ''}`);
      }
      throw new Error(`The review ${changeId} disclosed no violation in ${withinMs / 1000} s`);
    },
    async ended(changeId, withinMs) {
      const result = await countersign.result(changeId, { timeoutMs: withinMs });
      if (result.state === 'PENDING')
        throw new Error(`Not ended in ${withinMs / 1000} s: ${JSON.stringify(result.status)}`);
      return result;
    },
    async close() {
      await drained(15_000);
      await recorded.close();
      await connection.close();
      await db.close();
    },
  };
}

/**
 * Null if no worker answers the query: for ten seconds after a worker was killed, the server still routes queries to its
 * queue, and a busy machine takes longer.
 */
export async function statusIfAnswered(countersign: Countersign, changeId: string): Promise<ReviewStatus | null> {
  try {
    return await countersign.status(changeId);
  } catch (error) {
    if (isTransient(error)) return null;
    throw error;
  }
}

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

/**
 * Counts the calls of one connection. If a connection is closed while a call is in flight, the SDK's retry of that call throws in
 * a timer, where no caller can catch it, and ends the process. `drained` waits until no call is in flight, at most `withinMs`.
 */
function callsInFlight(): {
  readonly interceptors: Interceptor[];
  readonly drained: (withinMs: number) => Promise<void>;
} {
  let inFlight = 0;
  const count: Interceptor = (options, nextCall) => {
    const call = nextCall(options);
    const start = call.start.bind(call);
    call.start = (metadata, listener) => {
      inFlight++;
      start(metadata, {
        ...listener,
        onReceiveStatus(status) {
          inFlight--;
          listener?.onReceiveStatus?.(status);
        },
      });
    };
    return call as ReturnType<Interceptor>;
  };
  return {
    interceptors: [count, makeGrpcRetryInterceptor(defaultGrpcRetryOptions())],
    async drained(withinMs) {
      for (const until = Date.now() + withinMs; inFlight > 0 && Date.now() < until;) await sleep(20);
    },
  };
}
