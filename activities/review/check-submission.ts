import { changeId as changeIdOf } from '../../policy/contracts/change-id';
import type { Submission } from '../../policy/contracts/diff';
import { effectMetadataProblem, missingMetadata } from '../../policy/contracts/effect-metadata';
import { CountersignFailure, digestMismatch, invalid } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import { sha256Hex } from '../../policy/contracts/hash';
import type { Plan } from '../../policy/contracts/plan';
import type { SourceToolRegistry } from '../../policy/contracts/source-tool';
import type { ByteStore } from '../../policy/evidence/byte-store';
import type { KeyRegistry } from '../../policy/evidence/key-registry';
import type { Ledger } from '../../policy/evidence/ledger-port';
import { assessWithdrawal } from '../../signing/assess-withdrawal';
import type { PlanSource } from '../../storage/plans/plan-source';
import { toolFor } from './derivation';
import { OPENED_ROWS } from './opened-change';
import { recordRefusal } from './refused-entry';
import { withdrawalScopeFromRows } from './scopes-from-rows';

/** The workflow id is the hash of the change: the same change has one review, and no other change can use its id. */
export async function assertContentAddressed(
  deps: Parameters<typeof recordRefusal>[0],
  changeId: string,
  submission: Submission,
): Promise<void> {
  const expected = changeIdOf(submission);
  if (expected === changeId) return;
  const failure = invalid(
    'workflowId',
    `the id of this change, ${expected}`,
    `"${changeId}"`,
    'Submit it under its id',
  );
  throw await recordRefusal(deps, changeId, { check: 'openReview: changeId', of: submission }, failure);
}

/** Refuses an unknown source tool, and metadata that must not become part of the effect. */
export function assertAcceptable(tools: SourceToolRegistry, { sourceTool, metadata }: Submission): void {
  const unfit = effectMetadataProblem(toolFor(tools, sourceTool).effectMetadata, metadata);
  if (unfit !== null) throw unfitMetadata(unfit.field, unfit.problem);
}

/** Refuses a change that needs a dry run and has no metadata that the source tool needs for it. */
export function assertStageable(tools: SourceToolRegistry, { sourceTool, metadata }: Submission, plan: Plan): void {
  if (plan.mode !== 'enforced') return;
  const missing = missingMetadata(toolFor(tools, sourceTool).effectMetadata, metadata);
  if (missing !== null) throw unfitMetadata(missing.field, `missing; ${missing.problem}`);
}

function unfitMetadata(field: string, problem: string): CountersignFailure {
  return CountersignFailure.nonRetryable(
    `${field}: ${problem}. Submit the change with other metadata`,
    FailureType.Validation,
    { field },
  );
}

interface ReplacementDeps {
  readonly ledger: Pick<Ledger, 'readKinds'>;
  readonly plans: Pick<PlanSource, 'byHash'>;
  readonly keys: Pick<KeyRegistry, 'snapshot'>;
  readonly now: () => Date;
}

/**
 * Refuses a change whose `supersedes` names a change that it may not replace. Otherwise its requester would believe that the other one
 * has ended. A change that is not opened yet may be named; its own review then decides.
 */
export async function assertReplaceable(deps: ReplacementDeps, submission: Submission): Promise<void> {
  const { supersedes } = submission;
  if (supersedes === undefined) return;
  const message = { by: changeIdOf(submission) };
  const rows = await deps.ledger.readKinds(supersedes, OPENED_ROWS);
  const scope = await withdrawalScopeFromRows(deps, supersedes, rows, { kind: 'supersede', message });
  if (scope === null) return;
  const { find } = await deps.keys.snapshot(0);
  const at = deps.now().toISOString();
  const assessed = assessWithdrawal('supersede', message, { ...scope, other: submission }, find, at);
  if (assessed.code === 'accepted') return;
  throw invalid(
    'supersedes',
    'a change of the same requester, tenant, target and source tool, both signed',
    `${supersedes} (${assessed.message})`,
    'Submit it without, under another requestKey',
  );
}

/** Stores inline bytes if the target allows them. From here on only their digest is passed. */
export async function storeInline(store: ByteStore, submission: Submission, plan: Plan): Promise<void> {
  const { tenant, diffSha, inline } = submission;
  if (inline === undefined) return;
  if (!plan.inlineBytes)
    throw invalid(
      'inline',
      `no inline bytes: target ${submission.target} does not set inlineBytes`,
      'inline bytes',
      'Upload them through the gateway or the client',
    );
  const bytes = Buffer.from(inline, 'base64');
  if (bytes.length === 0) throw invalid('inline', 'at least one byte', '0 bytes', 'Submit a change that is not empty');
  if (sha256Hex(bytes) !== diffSha) throw digestMismatch('diffSha', sha256Hex(bytes), diffSha);
  await store.put(tenant, bytes);
}
