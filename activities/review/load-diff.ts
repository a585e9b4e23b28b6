import type { DiffInput, Submission } from '../../policy/contracts/diff';
import type { ByteStore } from '../../policy/evidence/byte-store';
import { unknownSourceTool } from '../../policy/contracts/failure';
import type { SourceToolRegistry } from '../../policy/contracts/source-tool';

/**
 * Reads the bytes by their digest, which the store recomputes. Fails with DIGEST_MISMATCH or ErrUnknownDiffType, not retried, or with
 * STORE_UNAVAILABLE, retried.
 */
export async function loadDiff(
  store: ByteStore,
  tools: SourceToolRegistry,
  ref: Pick<Submission, 'tenant' | 'sourceTool' | 'diffSha' | 'metadata'>,
): Promise<DiffInput> {
  if (tools.get(ref.sourceTool) === undefined) throw unknownSourceTool(ref.sourceTool, tools.keys());
  const raw = await store.get(ref.tenant, ref.diffSha);
  return { sourceTool: ref.sourceTool, raw, diffSha: ref.diffSha, metadata: ref.metadata };
}
