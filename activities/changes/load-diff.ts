import { inputSha, type DiffInput } from '../../policy/contracts/diff';
import type { ByteStore } from '../../policy/evidence/byte-store';
import type { Facts } from '../../policy/rules/facts';
import { digestMismatch } from '../failure';
import type { ChangeRef } from '../review-types';
import type { SourceToolRegistry } from '../staging/adapter';
import { unknownSourceTool } from '../failure';

export interface LoadedChange {
  readonly diff: DiffInput;
  readonly facts: Facts;
}

/**
 * The bytes by digest (the store recomputes it) and their facts. `ref.inputSha` is recomputed too, so a forged input
 * gets nothing. Fails with DIGEST_MISMATCH, ErrUnknownDiffType (not retried) or STORE_UNAVAILABLE (retried).
 */
export async function loadChange(
  store: ByteStore,
  tools: SourceToolRegistry,
  ref: Omit<ChangeRef, 'planHash' | 'changeId'>,
): Promise<LoadedChange> {
  const expected = inputSha(ref);
  if (expected !== ref.inputSha) throw digestMismatch('inputSha', expected, ref.inputSha);
  const tool = tools.get(ref.sourceTool);
  if (tool === undefined) throw unknownSourceTool(ref.sourceTool, tools.keys());
  const raw = await store.get(ref.tenant, ref.diffSha);
  const diff: DiffInput = { sourceTool: ref.sourceTool, raw, diffSha: ref.diffSha, metadata: ref.metadata };
  return { diff, facts: await tool.extractFacts(diff) };
}
