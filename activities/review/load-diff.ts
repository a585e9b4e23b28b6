import type { DiffInput } from '../../policy/contracts/diff';
import { inputSha } from '../../policy/contracts/change-id';
import type { ByteStore } from '../../policy/evidence/byte-store';
import { digestMismatch, unknownSourceTool } from '../../policy/contracts/failure';
import type { ChangeRef } from '../review-types';
import type { SourceToolRegistry } from '../../policy/contracts/source-tool';

/**
 * Reads the bytes by their digest, which the store recomputes. `ref.inputSha` is recomputed as well, so that forged input is
 * refused. Fails with DIGEST_MISMATCH or ErrUnknownDiffType, not retried, or with STORE_UNAVAILABLE, retried.
 */
export async function loadDiff(
  store: ByteStore,
  tools: SourceToolRegistry,
  ref: Omit<ChangeRef, 'planHash' | 'changeId'>,
): Promise<DiffInput> {
  const expected = inputSha(ref);
  if (expected !== ref.inputSha) throw digestMismatch('inputSha', expected, ref.inputSha);
  if (tools.get(ref.sourceTool) === undefined) throw unknownSourceTool(ref.sourceTool, tools.keys());
  const raw = await store.get(ref.tenant, ref.diffSha);
  return { sourceTool: ref.sourceTool, raw, diffSha: ref.diffSha, metadata: ref.metadata };
}
