import { setTimeout as sleep } from 'node:timers/promises';
import { CountersignFailure } from '../../policy/contracts/failure';
import { z } from 'zod';
import { toWellFormed, type JsonObject } from '../../policy/contracts/canonical-json';
import { Sha256Hex, Submission } from '../../policy/contracts/diff';
import { changeId as changeIdOf, inputSha as inputShaOf } from '../../policy/contracts/change-id';
import { FailureType } from '../../policy/contracts/failure-type';
import { EFFECT_UNKNOWN } from '../../policy/contracts/ledger';
import { Mode, RollbackReason } from '../../policy/contracts/outcome';
import type { Plan } from '../../policy/contracts/plan';
import type { StoredRow } from '../../policy/evidence/chain';
import type { LedgerEntry } from '../../policy/evidence/ledger-port';
import { digestMismatch, invalid, unknownSourceTool } from '../../policy/contracts/failure';
import type { CommitActivities, CommitInput, CommitResult, RollbackInput, Settled } from '../review-types';
import { targetUnavailable } from '../../source-tools/target-failure';
import type { EffectResolution, TargetFreeze } from '../../policy/evidence/predicates';
import { applyChange, closeUnchecked, factsOfVerified, type ApplyDeps } from './apply-change';
import { resolutionOf, resolvedEffect } from './effect-resolution';
import { giveUpUnheard } from './give-up';
import { begin, close, closeRolledBack, settledOf, type ReceiptFacts } from './settlement';
import type { TargetFreezes } from './target-freezes';
import { verifyChange, type RefusedChange } from './verify-change';
import { cutExplanation } from '../../policy/text/cut-text';

export interface CommitDeps extends ApplyDeps {
  readonly freezes: TargetFreezes;
}

/** The committer's three endings. Each may be called again at any time, by anybody: the ledger and the marker decide. */
export function createCommitActivities(deps: CommitDeps): Pick<CommitActivities, 'commit' | 'rollback' | 'reconcile'> {
  return {
    commit: (input) => commit(deps, input),
    rollback: (input) => rollback(deps, input),
    reconcile: (input) => reconcileOrTell(deps, input.changeId),
  };
}

async function commit(deps: CommitDeps, input: CommitInput): Promise<CommitResult> {
  const parsed = CommitShape.safeParse(input);
  if (!parsed.success)
    return {
      state: 'REFUSED',
      reason: 'commit_refused',
      explanation: 'input: expected the ids and hashes of one change',
    };
  const { changeId } = parsed.data;
  const rows = await deps.ledger.read(changeId);
  const settled = settledOf(rows);
  if (settled !== null) return settled;
  const verified = await verifyChange(deps, parsed.data, rows);
  if (!verified.ok) return refused(deps, parsed.data, verified, rows);
  await holdWhileFrozen(deps, changeId, verified.plan.target);
  const { planHash, stagingSha, fingerprint, at: verifiedAt } = verified;
  const intent = { kind: 'intent', verifiedAt } as const;
  const stands = await begin(deps, changeId, intent, { planHash, stagingSha, fingerprint });
  if (stands.kind === 'decided')
    return closeRolledBack(deps, factsOfVerified(verified), stands.reason, stands.explanation);
  // A reject that was written while this verified came before the intent, and counts (D4).
  const now = await deps.ledger.read(changeId);
  if (answersIn(now) !== answersIn(rows)) {
    const again = await verifyChange(deps, parsed.data, now);
    if (!again.ok) return refused(deps, parsed.data, again, now);
  }
  return applyChange(deps, verified, stands.at);
}

const CommitShape = z.object({
  changeId: Sha256Hex,
  planHash: Sha256Hex,
  stagingSha: Sha256Hex.nullable(),
  fingerprint: Sha256Hex.nullable(),
});

/** Not settled here: a commit that somebody schedules by hand must not close the review. Its own workflow rolls back. */
async function refused(
  deps: CommitDeps,
  input: CommitInput,
  { check, explanation, reason }: RefusedChange,
  rows: readonly StoredRow[],
): Promise<CommitResult> {
  const body = { check, explanation: cutExplanation(explanation), input: { ...input } };
  const entry: LedgerEntry = {
    kind: 'refused',
    at: deps.now().toISOString(),
    actor: deps.actor,
    factKey: `refused:${check}`,
    body,
  };
  // Each check refuses once in the ledger, and an invented id makes no row: a hostile caller cannot fill it.
  if (rows.length > 0) await deps.ledger.append(input.changeId, [entry]);
  return { state: 'REFUSED', reason, explanation: `${check}: ${explanation}` };
}

/**
 * Before the intent, and before each further attempt. Thrown, so that it is tried again until the plan's commit window ends:
 * a freeze that is lifted in time costs no answer, and one that is not ends in rollback.
 */
async function holdWhileFrozen(deps: CommitDeps, changeId: string, target: string): Promise<void> {
  const freeze = await deps.freezes.current(target);
  if (freeze === null) return;
  const explanation = frozenWords(freeze);
  const at = deps.now().toISOString();
  const body = { check: 'target_frozen', explanation };
  await deps.ledger.append(changeId, [
    {
      kind: 'refused',
      at,
      actor: deps.actor,
      factKey: `refused:target_frozen:${freeze === 'unknown' ? freeze : freeze.n}`,
      body,
    },
  ]);
  throw targetUnavailable(target, explanation);
}

function frozenWords(freeze: TargetFreeze | 'unknown'): string {
  if (freeze === 'unknown')
    return 'whether it is frozen is not known, since nobody trusted signed its last freezes: an operator may freeze or unfreeze it again';
  const { at, reason } = freeze;
  return `it is frozen since ${at}: ${toWellFormed(reason)}`;
}

function answersIn(rows: readonly StoredRow[]): number {
  return rows.filter(({ row }) => row.kind === 'answer_accepted').length;
}

/** An effect that the target does not tell of is for an operator to look at, who finds it in lists: said once for each change. */
async function reconcileOrTell(deps: CommitDeps, changeId: string): Promise<CommitResult> {
  const tell = async (explanation: string): Promise<void> => {
    const body = { check: EFFECT_UNKNOWN, explanation: cutExplanation(explanation) };
    const at = deps.now().toISOString();
    const entry = { kind: 'refused', at, actor: deps.actor, factKey: `refused:${EFFECT_UNKNOWN}`, body } as const;
    await deps.ledger.append(changeId, [entry], { state: 'EFFECT_UNKNOWN' });
  };
  try {
    const result = await reconcile(deps, changeId);
    if (result.state === 'EFFECT_UNKNOWN') await tell(result.explanation);
    return result;
  } catch (error) {
    if (error instanceof CountersignFailure && error.type === FailureType.Target) await tell(error.message);
    throw error;
  }
}

/** Reads the marker of a commit that did not report. */
async function reconcile(deps: CommitDeps, changeId: string): Promise<CommitResult> {
  const rows = await deps.ledger.read(changeId);
  const settled = settledOf(rows);
  if (settled !== null) return settled;
  const facts = factsOfRows(rows, changeId);
  if (facts === null || facts.planHash === null)
    throw invalid('changeId', 'a change whose plan the ledger knows', changeId, 'Submit it first');
  const tool = deps.tools.get(facts.sourceTool);
  const unreported =
    'The commit did not report, and the target has no trace of it: the marker is sealed, nothing was applied';
  // Without an intent no commit ever began: writing the rollback first closes the door.
  const freeze = await deps.freezes.current(facts.target);
  const late = 'The commit could not be done in time';
  const explanation = freeze === null ? late : `${late}: ${frozenWords(freeze)}`;
  const stands = await begin(deps, changeId, { kind: 'decided', reason: 'commit_failed', explanation }, {});
  if (stands.kind === 'decided') return closeRolledBack(deps, facts, stands.reason, stands.explanation);
  if (tool === undefined) throw unknownSourceTool(facts.sourceTool, deps.tools.keys());
  // Cooperative: no receipt was given, so nobody has performed anything, and this one says that nobody may (E3).
  if (tool.staging === null)
    return closeRolledBack(deps, facts, 'commit_failed', 'The commit did not report, and no receipt was given');
  const plan = await planOf(deps, facts.planHash);
  const effects = await tool.staging();
  const unsettled = {
    effects,
    settings: (plan?.staging ?? {}) as JsonObject,
    approved: facts.stagingSha === null ? null : await deps.stagingRecords.get(changeId, facts.stagingSha),
    intentAt: stands.at,
    whenUnchecked: (effect: JsonObject) => checkFound(deps, facts, plan, { effect, rows, intentAt: stands.at }),
  };
  const resolution = resolutionOf(rows, facts, deps.operators);
  const ask = (): Promise<CommitResult> => giveUpUnheard(deps, facts, unsettled, unreported);
  return resolution === null ? ask() : endResolved(deps, facts, resolution, ask, effects.lateMs ?? 0);
}

/** P2: an effect that its own commit did not report. */
async function checkFound(
  deps: CommitDeps,
  facts: ReceiptFacts,
  plan: Plan | null,
  { effect, rows, intentAt }: { effect: JsonObject; rows: readonly StoredRow[]; intentAt: string },
): Promise<CommitResult> {
  if (plan !== null && !plan.validators.some((v) => v.phase === 'post'))
    return close(deps, facts, { state: 'COMMITTED', reason: null, explanation: 'Committed', effect });
  const verified = await verifyChange(deps, { ...facts, planHash: facts.planHash ?? '' }, rows);
  if (!verified.ok) return closeUnchecked(deps, facts, effect, `${verified.check}: ${verified.explanation}`);
  return applyChange(deps, verified, intentAt, true);
}

/**
 * O1: the target is asked first, and what it tells stands. O3: that nothing was applied is believed of a target that cannot
 * be asked only when no attempt from before the word can still apply it.
 */
async function endResolved(
  deps: CommitDeps,
  facts: ReceiptFacts,
  resolution: EffectResolution,
  ask: () => Promise<CommitResult>,
  lateMs: number,
): Promise<CommitResult> {
  const told = await heard(ask);
  if (told !== null) return told;
  const { applied, reason } = resolution;
  if (!applied && lateMs > 0) {
    await sleep(lateMs);
    const later = await heard(ask);
    if (later !== null) return later;
  }
  return close(deps, facts, {
    state: applied ? 'COMMITTED' : 'ROLLED_BACK',
    reason: applied ? null : 'commit_failed',
    explanation: `An operator found that it was ${applied ? '' : 'not '}applied: ${reason}`,
    effect: resolvedEffect(resolution),
  });
}

/** Null where the target does not tell. */
async function heard(ask: () => Promise<CommitResult>): Promise<CommitResult | null> {
  try {
    const told = await ask();
    return told.state === 'EFFECT_UNKNOWN' ? null : told;
  } catch (error) {
    // What is no failure of the target, such as our own database being away, is no ground to believe anybody else.
    const type = error instanceof CountersignFailure ? error.type : undefined;
    if (type !== FailureType.Target && type !== FailureType.Configuration) throw error;
    return null;
  }
}

/** A plan that was revoked after the commit began must not leave its effect unknown: the marker is read with the adapter's own settings. */
async function planOf(deps: CommitDeps, planHash: string): Promise<Plan | null> {
  try {
    return (await deps.plans.byHash(planHash)).plan;
  } catch (error) {
    if (error instanceof CountersignFailure && error.type === FailureType.PolicyMoved) return null;
    throw error;
  }
}

async function rollback(deps: CommitDeps, input: RollbackInput): Promise<Settled> {
  const rows = await deps.ledger.read(input.changeId);
  const settled = settledOf(rows);
  if (settled !== null) return settled;
  if (changeIdOf(input.submission) !== input.changeId)
    throw digestMismatch('changeId', changeIdOf(input.submission), input.changeId);
  const reason = RollbackReason.safeParse(input.reason);
  if (!reason.success)
    throw invalid(
      'reason',
      `one of ${RollbackReason.options.join(', ')}`,
      JSON.stringify(input.reason),
      'A change is rolled back for a known reason',
    );
  const submission = Submission.safeParse(input.submission);
  if (!submission.success)
    throw invalid(
      'submission',
      'the submission of this change',
      submission.error.issues.map((i) => `${i.path.join('.')}: ${i.message}`).join('; '),
      'Hand over what the review was started with',
    );
  const opened = factsOfRows(rows, input.changeId);
  const facts = opened ?? unopened(input.changeId, submission.data);
  const { tenant, target, sourceTool, inputSha, mode } = facts;
  const first =
    opened === null ? { tenant, target, sourceTool, inputSha, mode, openedAt: deps.now().toISOString() } : {};
  const explanation = cutExplanation(String(input.explanation));
  const stands = await begin(deps, input.changeId, { kind: 'decided', reason: reason.data, explanation }, {}, first);
  if (stands.kind === 'decided') return closeRolledBack(deps, facts, stands.reason, stands.explanation);
  const result = await reconcile(deps, input.changeId);
  if (result.state === 'EFFECT_UNKNOWN' || result.state === 'REFUSED') throw new Error(result.explanation);
  return result;
}

/** What a receipt may say of a change that the ledger does not know: what follows from its submission, and nothing that the caller claims. */
function unopened(changeId: string, submission: Submission): ReceiptFacts {
  const { tenant, target, sourceTool, diffSha } = submission;
  return {
    changeId,
    tenant,
    target,
    sourceTool,
    inputSha: inputShaOf(submission),
    diffSha,
    planHash: null,
    stagingSha: null,
    fingerprint: null,
    mode: 'enforced',
  };
}

/** What the ledger knows of the change; null for one that was never opened. */
function factsOfRows(rows: readonly StoredRow[], changeId: string): ReceiptFacts | null {
  const body = (kind: string): Readonly<Record<string, unknown>> | undefined =>
    rows.findLast((r) => r.row.kind === kind)?.row.body;
  const submitted = body('submitted');
  const submission = Submission.safeParse(submitted?.['submission']);
  if (!submission.success) return null;
  const { tenant, target, sourceTool, diffSha } = submission.data;
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const mode = Mode.safeParse(body('planned')?.['mode']);
  return {
    changeId,
    tenant,
    target,
    sourceTool,
    diffSha,
    inputSha: inputShaOf(submission.data),
    planHash: text(body('planned')?.['planHash']),
    stagingSha:
      text(body('intent')?.['stagingSha']) ??
      text(body('disclosed')?.['stagingSha']) ??
      text(body('staged')?.['stagingSha']),
    fingerprint: text(body('disclosed')?.['fingerprint']),
    mode: mode.success ? mode.data : 'enforced',
  };
}
