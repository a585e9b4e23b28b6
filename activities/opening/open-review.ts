import { changeId as changeIdOf, inputSha as inputShaOf, Submission } from '../../policy/contracts/diff';
import type { JsonObject } from '../../policy/contracts/canonical-json';
import type { Plan } from '../../policy/contracts/plan';
import { sha256Hex } from '../../policy/contracts/hash';
import type { ByteStore } from '../../policy/evidence/byte-store';
import type { KeyRegistry } from '../../policy/evidence/key-registry';
import type { Ledger, LedgerEntry } from '../../policy/evidence/ledger-port';
import { refusedAttempt } from '../changes/opened-change';
import { digestMismatch, invalid, unknownSourceTool } from '../failure';
import type { PlanSource } from '../plans/plan-source';
import type { OpenInput, ReviewActivities } from '../review-types';
import type { SourceToolRegistry } from '../staging/adapter';
import { requesterOf, type Requester } from './requester';
import { attestWorldFacts, type ReadBreakers } from './world-facts';
import type { Attestor } from '../attestation';
import { findingRows } from '../guardians/finding-rows';

export interface OpeningDeps {
  readonly store: ByteStore;
  readonly ledger: Ledger;
  readonly plans: PlanSource;
  readonly tools: SourceToolRegistry;
  readonly attestor: Attestor;
  readonly readBreakers: ReadBreakers;
  readonly keys: Pick<KeyRegistry, 'snapshot'>;
  readonly channels: readonly string[];
  readonly now: () => Date;
  readonly actor: string;
}

/**
 * The first activity: checks the submission, pins the plan (P10), attests what the world says, and opens the ledger.
 * Refuses, not retried: the id of another change (so the same change is one review, and no other can take its name), unknown
 * tool, missing or inline bytes that are not allowed, a bad signature, no plan.
 */
export function createOpeningActivities(deps: OpeningDeps): Pick<ReviewActivities, 'openReview'> {
  return {
    async openReview({ changeId, submission: sent }) {
      const submission = parseSubmission(sent);
      const { tenant, target, sourceTool, diffSha, metadata } = submission;
      const id = changeIdOf(submission);
      if (id !== changeId) {
        const failure = invalid('workflowId', `this change's id ${id}`, `"${changeId}"`, 'Submit it under its own id');
        throw await refusedAttempt(deps, changeId, 'openReview: changeId', failure);
      }
      const inputSha = inputShaOf(submission);
      if (deps.tools.get(sourceTool) === undefined) throw unknownSourceTool(sourceTool, deps.tools.keys());
      const { plan, planHash, revision } = await deps.plans.current(target, sourceTool);
      await takeBytes(deps.store, submission, plan);
      const requester = requesterOf(submission, plan.development, await deps.keys.snapshot());
      if (requester.kind === 'refused')
        throw invalid(
          'envelope',
          'a submission signed by a registered service key',
          requester.why,
          'Sign it again, or leave the envelope out: then two people are needed',
        );

      const at = deps.now().toISOString();
      const person = requester.kind === 'known' ? requester.person : null;
      const ref = { changeId, tenant, target, sourceTool, diffSha, metadata, inputSha, planHash };
      const world = await attestWorldFacts(deps, plan, ref, at);
      const rows: LedgerEntry[] = [
        {
          kind: 'submitted',
          at,
          actor: deps.actor,
          factKey: 'submitted',
          body: { submission: withoutInline(submission), inputSha, requester: person },
        },
        { kind: 'planned', at, actor: deps.actor, factKey: 'planned', body: { planHash, revision, mode: plan.mode } },
        ...world.rows,
        ...findingRows(plan, changeId, world.results, at, deps.actor),
      ];
      const [submitted, planned] = await deps.ledger.append(changeId, rows, {
        tenant,
        target,
        sourceTool,
        inputSha,
        state: 'RUNNING',
        reason: null,
        mode: plan.mode,
        requester: person,
        pending: 0,
        openedAt: at,
        summary: `${sourceTool} on ${target}`,
      });
      // A retry after a lost result, or after a reset: the plan that was pinned first stays (P10).
      const openedAt = submitted?.stored?.row.at ?? at;
      const later = deps.readBreakers === null ? { openedAt } : { openedAt, sinks: true };
      const pinned = planned?.stored?.row.body['planHash'];
      if (typeof pinned === 'string' && pinned !== planHash) {
        const first = await deps.plans.byHash(pinned);
        return {
          plan: first.plan,
          planHash: pinned,
          inputSha,
          requester: person,
          results: world.results,
          channels: deps.channels,
          warnings: warningsOf(first.plan, requester),
          ...later,
        };
      }
      return {
        plan,
        planHash,
        inputSha,
        requester: person,
        results: world.results,
        channels: deps.channels,
        warnings: warningsOf(plan, requester),
        ...later,
      };
    },
  };
}

/** Parsed by the workflow before; whoever schedules this by hand has no workflow. */
function parseSubmission(sent: unknown): Submission {
  const parsed = Submission.safeParse(sent);
  if (parsed.success) return parsed.data;
  const text = parsed.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; ');
  throw invalid('submission', 'the submission of a change', text, 'Hand over what the review was started with');
}

/** Inline bytes go into the store, where the target allows them; then only the digest travels. */
async function takeBytes(store: ByteStore, submission: OpenInput['submission'], plan: Plan): Promise<void> {
  const { tenant, diffSha, inline } = submission;
  if (inline === undefined) {
    if (!(await store.has(tenant, diffSha)))
      throw invalid('diffSha', 'bytes in the store', `no bytes for ${diffSha}`, 'Upload the diff before submitting it');
    return;
  }
  if (!plan.inlineBytes)
    throw invalid(
      'inline',
      `no inline bytes: target ${submission.target} does not set inlineBytes`,
      'inline bytes',
      'Upload them through the gateway or the client',
    );
  const bytes = Buffer.from(inline, 'base64');
  if (bytes.length === 0) throw invalid('inline', 'at least one byte', '0 bytes', 'Submit the change itself');
  if (sha256Hex(bytes) !== diffSha) throw digestMismatch('diffSha', sha256Hex(bytes), diffSha);
  await store.put(tenant, bytes);
}

function warningsOf(plan: Plan, requester: Requester): string[] {
  const warnings: string[] = [];
  if (plan.answers === 'unsigned')
    warnings.push('Answers are NOT signed on this development target: anybody who can signal this workflow can answer');
  if (plan.mode === 'cooperative')
    warnings.push(
      'Cooperative: the requester performs the effect itself; at most one effect, and the bytes applied, are its own promise',
    );
  if (requester.kind === 'unknown') warnings.push(`Requester unknown (${requester.why}): four eyes need two people`);
  if (requester.kind === 'known' && requester.demo) warnings.push('Submitted with a demo key');
  if (plan.validators.some((v) => v.id === 'always-approve'))
    warnings.push('always-approve: this plan opts out of validation');
  return warnings;
}

function withoutInline(submission: Submission): JsonObject {
  const { inline: _inline, ...rest } = submission;
  return rest as unknown as JsonObject;
}
