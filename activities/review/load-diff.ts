import type { DiffInput, Submission } from '../../policy/contracts/diff';
import type { ByteStore } from '../../policy/evidence/byte-store';
import type { SourceToolRegistry } from '../../policy/contracts/source-tool';
import { toolFor } from './derivation';

/**
 * Reads the bytes by their digest, which the store recomputes. Fails with DIGEST_MISMATCH or ErrUnknownDiffType, not retried, or with
 * STORE_UNAVAILABLE, retried.
 */
export async function loadDiff(
  store: ByteStore,
  tools: SourceToolRegistry,
  ref: Pick<Submission, 'tenant' | 'sourceTool' | 'diffSha' | 'metadata'>,
): Promise<DiffInput> {
  toolFor(tools, ref.sourceTool);
  const raw = await store.get(ref.tenant, ref.diffSha);
  return { sourceTool: ref.sourceTool, raw, diffSha: ref.diffSha, metadata: ref.metadata };
}
