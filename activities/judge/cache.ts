import { z } from 'zod';
import { typedHash, type Sha256 } from '../../policy/contracts/hash';
import { ModelReply } from './model-exchange';

/** One raw answer of a model. It is parsed again on every use. `origin` is the id of the change that it was given for. */
export const CachedReply = ModelReply.extend({ origin: z.string() });
export type CachedReply = Readonly<z.infer<typeof CachedReply>>;

/**
 * Model answers by `cacheKey`. Failures are never stored. A cache that is unavailable must not fail the review: `get` may
 * return null at any time.
 */
export interface JudgeCache {
  readonly get: (key: Sha256) => Promise<CachedReply | null>;
  /** Keeps the first answer for a key, and returns it if it is another one. */
  readonly set: (key: Sha256, reply: CachedReply) => Promise<CachedReply | null>;
}

/** Everything that the answer depends on. Includes the tenant, so that one cannot learn what another submitted. */
interface CacheSubject {
  readonly tenant: string;
  readonly sourceTool: string;
  readonly host: string;
  readonly logicHash: Sha256;
  readonly renderer: string;
  /** Hash of both messages, which contain the diff, the claims, the policies and the nonce. */
  readonly promptSha: Sha256;
}

export function cacheKey(subject: CacheSubject): Sha256 {
  return typedHash('logic', { part: 'judge-cache', ...subject });
}

export const noCache: JudgeCache = { get: async () => null, set: async () => null };
