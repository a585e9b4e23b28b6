import { createHash } from 'node:crypto';
import type { JsonObject } from '../../policy/contracts/canonical-json';
import type { DiffInput } from '../../policy/contracts/diff';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import type { Staged } from '../../policy/contracts/target-effects';

export function diffOf(text: string | Uint8Array, sourceTool = 'SQLDryRun'): DiffInput {
  const raw = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  return { sourceTool, raw, diffSha: createHash('sha256').update(raw).digest('hex'), metadata: {} };
}

let changes = 0;
/** A new unique change id. */
export function newChangeId(): string {
  return createHash('sha256').update(`change ${changes++}`).digest('hex');
}

/** The record of a dry run that the target did not reject. */
export function recordOf(staged: Staged): StagingRecord {
  return successful(staged).record;
}

export function previewOf(staged: Staged): JsonObject {
  return successful(staged).preview;
}

function successful(staged: Staged): Extract<Staged, { readonly kind: 'staged' }> {
  if (staged.kind !== 'staged') throw new Error(`expected a staging record, got: ${staged.explanation}`);
  return staged;
}
