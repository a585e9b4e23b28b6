import { createHash } from 'node:crypto';
import type { Sha256 } from '../../policy/contracts/hash';

/** Node's own SHA-256: a prompt is tens of kilobytes, and the sandbox's takes a millisecond for it. */
export function sha256Of(data: Uint8Array | string): Sha256 {
  return createHash('sha256').update(data).digest('hex');
}

/** What was sent, word for word: over the length of the first message in UTF-16 units, and both. */
export function messagesSha(first: string, second: string): Sha256 {
  return createHash('sha256').update(`${first.length}\n`).update(first).update(second).digest('hex');
}
