import { createHash } from 'node:crypto';
import type { Sha256 } from '../../policy/contracts/hash';

/** Node's own SHA-256: a prompt is tens of kilobytes, and the sandbox's takes a millisecond for it. */
export function sha256Of(data: Uint8Array | string): Sha256 {
  return createHash('sha256').update(data).digest('hex');
}

/** What was sent, word for word: over the canonical JSON of both, which for strings is JSON's own. */
export function messagesSha(first: string, second: string): Sha256 {
  return sha256Of(JSON.stringify([first, second]));
}
