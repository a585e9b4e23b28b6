import { typedHash, type Sha256 } from '../../policy/contracts/hash';
import type { ModelReply } from './model-exchange';

/** One answer of a model, kept as it came: it is read again by the same parser on every use. */
export interface CachedReply extends ModelReply {
  readonly origin: Sha256;
}

/**
 * Answers by key, for the diff and logic that they were given for. Failures are never put in. A cache that is away is
 * no reason to fail: `get` may answer null at any time.
 */
export interface JudgeCache {
  readonly get: (key: Sha256) => Promise<CachedReply | null>;
  readonly set: (key: Sha256, reply: CachedReply) => Promise<void>;
}

/** Everything that the answer depends on. The tenant is in it, so that none learns what another submitted. */
export interface CacheSubject {
  readonly tenant: string;
  readonly sourceTool: string;
  readonly host: string;
  readonly logicHash: Sha256;
  readonly renderer: string;
  /** Of both messages, word for word: diff, claims, policies and nonce are in them. */
  readonly promptSha: Sha256;
}

export function cacheKey(subject: CacheSubject): Sha256 {
  return typedHash('logic', { part: 'judge-cache', ...subject });
}

/** In this process only; the oldest entry goes first. `ttlMs` counts from when the answer was given. */
export function createMemoryJudgeCache(options: {
  readonly maxEntries: number;
  readonly ttlMs: number;
  readonly now: () => number;
}): JudgeCache {
  const entries = new Map<Sha256, { readonly reply: CachedReply; readonly until: number }>();
  return {
    get: async (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return null;
      if (entry.until > options.now()) return entry.reply;
      entries.delete(key);
      return null;
    },
    set: async (key, reply) => {
      entries.delete(key);
      entries.set(key, { reply, until: options.now() + options.ttlMs });
      const [oldest] = entries.keys();
      if (entries.size > options.maxEntries && oldest !== undefined) entries.delete(oldest);
    },
  };
}

export const noCache: JudgeCache = { get: async () => null, set: async () => undefined };
