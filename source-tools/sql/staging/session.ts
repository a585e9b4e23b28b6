/**
 * A connection to a target, for one transaction at a time.
 *
 * S1 Each statement of a diff is sent with the extended protocol. The server rejects a second command in the same message, so text
 *    such as `UPDATE …; COMMIT; DELETE …` cannot leave the transaction.
 * S2 Every wait is bounded twice: by the server's timeouts, and by a client timeout, after which the connection is dropped and the
 *    server process terminated, so that no lock outlives the client. It is not used again after that.
 * S3 Values are returned as the server's text, because the driver's parsers would round numbers.
 * S4 A later transaction begins after a rollback and DISCARD ALL, which resets settings and role, closes cursors, and drops prepared
 *    statements, cached plans, temporary tables, listeners, advisory locks and values reserved from sequences
 *    (https://www.postgresql.org/docs/18/sql-discard.html). Caches of the catalog remain, which the server keeps up to date. On a
 *    connection that may be kept, it begins after the reset of S6.
 * S5 No statement is sent outside of a transaction, where it would be committed immediately.
 * S6 A connection is kept for another change only if the caller says that everything which ran on it was fit for a rehearsal, no
 *    statement failed, and the server confirmed the end of the transaction and the reset. The reset does what DISCARD ALL does, but
 *    keeps Countersign's own prepared queries with their plans, which the server keeps up to date. If a function of the target ran,
 *    it also discards plans: a plan in a PL/pgSQL function has the types that a row had when it was planned. A statement that SQL
 *    prepared, or a temporary table, ends the connection.
 * S7 A kept connection whose transaction cannot begin is replaced once by a new one. Nothing of the change was sent before.
 */
import {
  closeConnection,
  dropAndTerminate,
  newClient,
  submit,
  withLimit,
  type NamedQuery,
  type Row,
  type SqlQuery,
} from './driver-client';
import { keptConnections, type Connection, type KeptConnections } from './kept-connections';
import type { SqlSettings } from '../staging-settings';
import { beginText, type Booted, GRACE_MS, RESET, sendBegin, sendReset } from './transaction-start';

export interface Session {
  /** `server_version_num`, for example 180004. `version` is the text, for example `18.4`. */
  readonly versionNumber: number;
  readonly version: string;
  /** The server's own `plan_cache_mode`, for `GENERIC_PLANS`. */
  readonly planCacheMode: string;
  /** Runs one statement. `rowCount` is that of the command tag, or 0 if it has none. Rejects with the driver's error. */
  readonly run: (query: SqlQuery) => Promise<{ readonly command: string; readonly rowCount: number }>;
  readonly rows: (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;
  /** Like `rows`, for Countersign's own queries, whose texts are constants: a connection that may be kept prepares each once. */
  readonly own: (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;
  /** Discards cached plans before the next transaction. Call it before a function of the target executes (S6). */
  readonly discardPlans: () => void;
  /** Sends COMMIT. Resolves with the command tag, which is `ROLLBACK` if the transaction had already failed. */
  readonly commit: () => Promise<string>;
  /** Ends the transaction and its locks. Never rejects: if the server does not answer, the session is abandoned. */
  readonly rollback: () => Promise<void>;
  /** Begins another transaction, after `rollback` (S4). Rejects if the session was abandoned, or with the driver's error. */
  readonly begin: (settings: SqlSettings) => Promise<void>;
  /** Closes the connection and terminates the server process. Running queries reject. */
  readonly abandon: () => Promise<void>;
  /** Rolls back unless committed, then closes. Never rejects: the server also rolls back if the connection is lost. */
  readonly close: () => Promise<void>;
  /** After `commit` or `rollback`: keeps the connection for another change (S6) or closes it. Never rejects. */
  readonly release: () => Promise<void>;
}

interface SessionOptions {
  readonly url: string;
  /** Shown in pg_stat_activity. The same in the rehearsal and in the commit, so that SQL cannot tell them apart by it. */
  readonly changeId: string;
  readonly settings: SqlSettings;
  /** The server terminates the session if it is idle for longer. Default: {@link IDLE_MS}. */
  readonly idleMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** The connection may come from an earlier change and be kept for a later one, until this aborts. Absent: it is new, and closed. */
  readonly inUse?: AbortSignal | undefined;
}

/**
 * Post validators run while the transaction is idle. The server terminates the session if it is idle for longer, for example because
 * the process is suspended.
 */
export const IDLE_MS = 15_000;

/** Connects and begins the transaction. Rejects with the driver's error. */
export async function openSession(options: SessionOptions): Promise<Session> {
  if (isAborted(options.signal)) throw new Error('cancelled before connecting');
  const kept = options.inUse === undefined ? null : keptConnections(options.inUse);
  const earlier = kept?.take(options.url) ?? null;
  if (earlier !== null) {
    try {
      return await sessionOn(earlier, kept, options);
    } catch (error) {
      if (isAborted(options.signal)) throw error;
    }
  }
  const client = newClient(options.url, NAME, options.settings.connectTimeoutMs);
  await client.connect();
  return sessionOn(
    { client, url: options.url, since: performance.now(), direct: false, isReset: false },
    kept,
    options,
  );
}

/** Closes the connection if the transaction cannot begin. */
async function sessionOn(
  connection: Connection,
  kept: KeptConnections | null,
  options: SessionOptions,
): Promise<Session> {
  const { signal, settings } = options;
  const use = new ConnectionUse(connection, kept, options);
  const onAbort = (): void => void use.abandon();
  const finish = async (): Promise<void> => {
    signal?.removeEventListener('abort', onAbort);
    await use.finish();
  };
  const close = async (): Promise<void> => {
    await use.rollback();
    await finish();
  };
  signal?.addEventListener('abort', onAbort);
  try {
    const { versionNumber, version, planCacheMode } = await use.begin(settings);
    if (isAborted(signal)) throw new Error('cancelled');
    return {
      versionNumber,
      version,
      planCacheMode,
      run: (query) => use.run(query),
      rows: (text, values = []) => use.collect({ text, values }),
      own: (text, values = []) => use.collect({ text, values, ...(use.mayKeep ? { name: preparedName(text) } : {}) }),
      discardPlans: () => {
        use.discardPlans = true;
      },
      abandon: () => use.abandon(),
      rollback: () => use.rollback(),
      begin: (next) => use.beginAgain(next),
      commit: () => use.commit(),
      close,
      release: async () => ((await use.release()) ? signal?.removeEventListener('abort', onAbort) : close()),
    };
  } catch (error) {
    await finish();
    throw error;
  }
}

/** The use of a connection for one change. */
class ConnectionUse {
  discardPlans = false;
  #settings: SqlSettings;
  #pid: string | null = null;
  #inTransaction = false;
  #failed = false;
  #abandoned: Promise<void> | null = null;

  constructor(
    readonly connection: Connection,
    readonly kept: KeptConnections | null,
    readonly options: SessionOptions,
  ) {
    this.#settings = options.settings;
  }

  get mayKeep(): boolean {
    return this.kept !== null && this.connection.direct && !this.#failed && this.#abandoned === null;
  }

  /** Closing the socket is not enough: a busy server process only notices at the end of the statement. */
  abandon(): Promise<void> {
    return (this.#abandoned ??= dropAndTerminate(
      this.connection.client,
      { url: this.options.url, name: applicationName(this.options) },
      this.#pid,
    ));
  }

  async run(query: NamedQuery): ReturnType<typeof submit> {
    if (!this.#inTransaction) throw new Error('A statement was sent outside of a transaction');
    const limitMs = this.#settings.statementTimeoutMs + GRACE_MS;
    return await this.#limited(limitMs, submit(this.connection.client, query));
  }

  async collect(query: NamedQuery): Promise<readonly Row[]> {
    const out: Row[] = [];
    await this.run({ ...query, onRow: (row) => out.push(row) });
    return out;
  }

  async begin(settings: SqlSettings): Promise<Booted> {
    const { connection, options } = this;
    const { idleMs = IDLE_MS } = options;
    this.#settings = settings;
    this.#inTransaction = true;
    const text = beginText({ settings, idleMs, name: applicationName(options), isReset: connection.isReset });
    connection.isReset = false;
    const booted = await this.#limited(settings.connectTimeoutMs, sendBegin(connection.client, text));
    this.#pid = booted.pid;
    connection.direct = booted.pid === String(connection.client.processID);
    return booted;
  }

  async beginAgain(settings: SqlSettings): Promise<void> {
    if (this.#abandoned !== null) throw new Error('the session was abandoned');
    if (!this.connection.isReset) await (this.mayKeep ? this.#reset('') : this.#control('DISCARD ALL'));
    await this.begin(settings);
  }

  async commit(): Promise<string> {
    const { command } = await this.run({ text: 'COMMIT' });
    this.#inTransaction = false;
    return command;
  }

  async rollback(): Promise<void> {
    try {
      if (this.#abandoned === null && this.#inTransaction)
        await (this.mayKeep ? this.#reset('ROLLBACK;') : this.#control('ROLLBACK'));
    } catch {
      // The connection is lost, so the server rolls back.
    }
    this.#inTransaction = false;
    this.#pid = null;
  }

  async finish(): Promise<void> {
    if (this.#abandoned !== null) return this.#abandoned;
    await closeConnection(this.connection.client);
  }

  /** False if the connection may not be kept. After true it belongs to another change. */
  async release(): Promise<boolean> {
    if (this.#inTransaction || !this.mayKeep) return false;
    if (!this.connection.isReset) await this.#reset('').catch(() => undefined); // then it may not be kept
    if (!this.mayKeep) return false;
    this.#abandoned = Promise.resolve();
    this.kept?.put(this.connection);
    return true;
  }

  async #reset(first: string): Promise<void> {
    const text = `${first}${this.discardPlans ? 'DISCARD PLANS;' : ''}${RESET}`;
    await this.#limited(this.#settings.connectTimeoutMs, sendReset(this.connection.client, text));
    this.discardPlans = false;
    this.connection.isReset = true;
  }

  async #control(text: string): Promise<void> {
    await this.#limited(this.#settings.connectTimeoutMs, submit(this.connection.client, { text }));
  }

  async #limited<T>(limitMs: number, work: Promise<T>): Promise<T> {
    try {
      return await withLimit(limitMs, () => this.abandon(), work);
    } catch (error) {
      this.#failed = true;
      throw error;
    }
  }
}

const prepared = new Map<string, string>();

function preparedName(text: string): string {
  const name = prepared.get(text) ?? `countersign_${prepared.size + 1}`;
  prepared.set(text, name);
  return name;
}

/** The name of a connection between two changes. */
const NAME = 'countersign';

function applicationName({ changeId }: SessionOptions): string {
  return `${NAME} ${changeId.slice(0, 12)}`;
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
