import { createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from '../../policy/contracts/canonical-json';
import type { Queryable } from '../../storage/database/database';
import { isDatabaseDown } from '../../storage/database/database-down';
import { CachedReply, type JudgeCache } from './cache';

interface DatabaseCacheOptions {
  readonly db: Queryable;
  /** Secret of the judge workers. Without the MAC, anyone with write access to the database could forge an ALLOW. */
  readonly macKey: Uint8Array;
  readonly ttlMs: number;
  readonly now: () => number;
}

/**
 * A cache in PostgreSQL that all judge workers share and that survives restarts, so that a resubmitted change gets the
 * same answer. An entry with an invalid MAC counts as absent. The first answer for a key is kept until it expires.
 */
export function createDatabaseJudgeCache({ db, macKey, ttlMs, now }: DatabaseCacheOptions): JudgeCache {
  const macOf = (key: string, at: number, reply: string): Buffer =>
    createHmac('sha256', macKey)
      .update(canonicalJson(['countersign/judge-cache/v1', key, at, reply]))
      .digest();
  const get: JudgeCache['get'] = async (key) => {
    const found = await unlessDown(
      db.query<{ reply: string; at: string; mac: Buffer }>(
        'select reply, at, mac from judge_answers where key = $1',
        [key],
        'judge_answer_get',
      ),
    );
    const row = found?.rows[0];
    if (row === undefined || Number(row.at) + ttlMs <= now()) return null;
    const mac = macOf(key, Number(row.at), row.reply);
    if (mac.length !== row.mac.length || !timingSafeEqual(mac, row.mac)) return null;
    // A version with other members may have stored it.
    return CachedReply.safeParse(JSON.parse(row.reply)).data ?? null;
  };
  return {
    get,
    set: async (key, reply) => {
      const at = now();
      const text = JSON.stringify(reply);
      const stored = await unlessDown(
        db.query(
          `insert into judge_answers as a (key, reply, at, mac) values ($1, $2, $3, $4)
           on conflict (key) do update set reply = excluded.reply, at = excluded.at, mac = excluded.mac where a.at <= $5`,
          [key, text, at, macOf(key, at, text), at - ttlMs],
          'judge_answer_set',
        ),
      );
      return stored?.rowCount === 0 ? get(key) : null;
    },
  };
}

/** Null if the database is unavailable. The model was already asked, or is asked now; only the ledger must not fail. */
async function unlessDown<T>(result: Promise<T>): Promise<T | null> {
  try {
    return await result;
  } catch (error) {
    if (isDatabaseDown(error)) return null;
    throw error;
  }
}
