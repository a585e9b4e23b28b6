import { createHash } from 'node:crypto';
import type { Sha256 } from '../../policy/contracts/hash';

/** SHA-256 by node:crypto. The pure JavaScript one of `policy/` takes about a millisecond for a prompt. */
export function sha256Of(data: Uint8Array | string): Sha256 {
  return createHash('sha256').update(data).digest('hex');
}

/** Hash of both messages as sent. Starts with the length of the first in UTF-16 units, so that the border is unambiguous. */
export function messagesSha(first: string, second: string): Sha256 {
  return createHash('sha256').update(`${first.length}\n`).update(first).update(second).digest('hex');
}
