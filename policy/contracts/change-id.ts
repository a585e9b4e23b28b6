import { utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from './canonical-json';
import type { Metadata, Submission } from './diff';
import { typedHash, type Sha256 } from './hash';
import { MAX_METADATA_BYTES } from './limits';

/** What a submission is called by. No schema here: the workflow sandbox loads this file. */

export function inputSha(s: Pick<Submission, 'tenant' | 'target' | 'sourceTool' | 'diffSha' | 'metadata'>): Sha256 {
  const { tenant, target, sourceTool, diffSha, metadata } = s;
  return typedHash('input', { tenant, target, sourceTool, diffSha, metadata });
}

/** The id of the review and of its workflow. The same change twice is the same review, unless `requestKey` differs. */
export function changeId(s: Submission): Sha256 {
  return typedHash('change', { tenant: s.tenant, target: s.target, inputSha: inputSha(s), requestKey: s.requestKey });
}

/** Why metadata of the right shape is still refused: it cannot be hashed, or is too large. Null where nothing is wrong. */
export function metadataProblem(metadata: Metadata): string | null {
  try {
    const size = utf8ToBytes(canonicalJson(metadata)).length;
    return size > MAX_METADATA_BYTES ? `expected at most ${MAX_METADATA_BYTES} bytes of JSON, got ${size}` : null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
