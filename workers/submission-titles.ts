import { setTimeout as sleep } from 'node:timers/promises';
import type { Submission } from '../policy/contracts/diff';
import { sha256Hex } from '../policy/contracts/hash';
import { messageOf } from '../client/errors';
import { fromBase64 } from '../policy/evidence/base64';
import type { ByteStore } from '../policy/evidence/byte-store';
import type { Derivation } from '../activities/review/derivation';
import type { Logger } from './logger';

/** Its title lets the thread load its modules before the first submission, which takes longer than MAX_MS. */
export const EMPTY_SUBMISSION: Submission = {
  ...{ tenant: '', target: '', sourceTool: 'SQLDryRun', metadata: {}, requestKey: '' },
  diffSha: sha256Hex(new Uint8Array()),
  inline: '',
};
/** The start of a review waits for its title no longer than this. */
const MAX_MS = 500;
/** Each keeps the bytes of its change until the thread has parsed them, which can take longer than MAX_MS. */
const MAX_AT_ONCE = 50;

/**
 * The title that the source tool gives a change, for the summary in the Temporal UI, which is fixed when the workflow starts. Null if it
 * cannot be computed in time, or if too many others wait. The bytes are parsed on another thread.
 */
export function submissionTitles(
  store: Pick<ByteStore, 'get'>,
  threads: Pick<Derivation, 'title'>,
  logger: Pick<Logger, 'warn'>,
  maxMs = MAX_MS,
): (submission: Submission) => Promise<string | null> {
  let waiting = 0;

  async function titleOf({ tenant, sourceTool, diffSha, metadata, inline }: Submission): Promise<string | null> {
    if (waiting >= MAX_AT_ONCE) return null;
    waiting++;
    try {
      const raw = inline === undefined ? await store.get(tenant, diffSha) : fromBase64(inline);
      if (raw === null) return null;
      // The thread keeps facts by this digest: other bytes would get, or leave behind, those of another change.
      if (inline !== undefined && sha256Hex(raw) !== diffSha) return null;
      return await threads.title({ sourceTool, raw, diffSha, metadata });
    } catch (error) {
      // Whatever the failure is, the review starts without a title: its first activity reports what is wrong with the change.
      logger.warn({ error: messageOf(error) }, 'The title of a change could not be computed');
      return null;
    } finally {
      waiting--;
    }
  }

  return async (submission) => {
    const late = new AbortController();
    try {
      return await Promise.race([titleOf(submission), sleep(maxMs, null, { signal: late.signal, ref: false })]);
    } finally {
      late.abort();
    }
  };
}
