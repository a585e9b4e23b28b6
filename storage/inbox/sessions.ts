import type { Queryable } from '../database/database';

export const IDLE_MS = 15 * 60_000;
export const ABSOLUTE_MS = 8 * 3_600_000;
/** Of one person. The oldest ends if there are more. */
const MAX_SESSIONS = 10;
/** The time of use is written at most this often. */
const TOUCH_MS = 30_000;

export interface StoredSession {
  readonly keyId: string;
  readonly person: string;
  /** Milliseconds since the epoch: when the session ends at the latest. */
  readonly expiresAt: number;
}

/** Sessions in PostgreSQL, which all gateways share, by the SHA-256 of their token. Times are of the database. */
export interface SessionStore {
  create(tokenSha: string, of: { readonly keyId: string; readonly person: string }): Promise<StoredSession>;
  /** Null for an unknown or expired session. `use`: the request of a person, which starts the idle time anew. */
  find(tokenSha: string, use: boolean): Promise<StoredSession | null>;
  end(tokenSha: string): Promise<void>;
}

interface Row {
  key_id: string;
  person: string;
  expires: string;
  idle_ms: number;
}

const LIVE = `created_at > clock_timestamp() - interval '${ABSOLUTE_MS} ms' and seen_at > clock_timestamp() - interval '${IDLE_MS} ms'`;
const COLUMNS = `key_id, person, (extract(epoch from created_at) * 1000 + ${ABSOLUTE_MS})::bigint::text as expires,
  (extract(epoch from clock_timestamp() - seen_at) * 1000)::float8 as idle_ms`;

export function createSessionStore(db: Queryable): SessionStore {
  return {
    async create(tokenSha, { keyId, person }) {
      await db.query(
        `delete from inbox_sessions where token_sha in
           (select token_sha from inbox_sessions where person = $1 order by created_at desc, token_sha offset ${MAX_SESSIONS - 1})
         or person = $1 and not (${LIVE})`,
        [person],
      );
      const { rows } = await db.query<Row>(
        `insert into inbox_sessions (token_sha, key_id, person) values ($1, $2, $3) returning ${COLUMNS}`,
        [tokenSha, keyId, person],
      );
      const [row] = rows;
      if (row === undefined) throw new Error('The database did not return the new session');
      return toSession(row);
    },

    async find(tokenSha, use) {
      const { rows } = await db.query<Row>(
        `select ${COLUMNS} from inbox_sessions where token_sha = $1 and ${LIVE}`,
        [tokenSha],
        'inbox_session',
      );
      const [row] = rows;
      if (row === undefined) return null;
      if (use && row.idle_ms > TOUCH_MS)
        await db.query('update inbox_sessions set seen_at = clock_timestamp() where token_sha = $1', [tokenSha]);
      return toSession(row);
    },

    async end(tokenSha) {
      await db.query('delete from inbox_sessions where token_sha = $1', [tokenSha]);
    },
  };
}

function toSession({ key_id: keyId, person, expires }: Row): StoredSession {
  return { keyId, person, expiresAt: Number(expires) };
}
