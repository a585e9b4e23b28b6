import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { canonicalJson, toWellFormed, type JsonObject } from '../../policy/contracts/canonical-json';
import { changeId as changeIdOf, inputSha as inputShaOf, Sha256Hex, Submission } from '../../policy/contracts/diff';
import { FailureType } from '../../policy/contracts/failure-type';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import { Mode, RollbackReason } from '../../policy/contracts/outcome';
import type { StagingRecord } from '../../policy/contracts/staging-record';
import { stagingSha as stagingShaOf } from '../../policy/contracts/staging-record';
import { assembleAnswered } from '../../policy/decide/findings';
import type { StoredRow } from '../../policy/evidence/chain';
import type { Ledger, LedgerEntry } from '../../policy/evidence/ledger-port';
import { digestMismatch, invalid, unknownSourceTool } from '../failure';
import { deriveResults } from '../guardians/derive';
import { withHeartbeat } from '../heartbeat';
import type { CommitActivities, CommitInput, CommitResult, RollbackInput, Settled } from '../review-types';
import { targetUnavailable } from '../staging/target-failure';
import type { EffectResolution, TargetFreeze } from '../../policy/evidence/predicates';
import { resolutionOf, resolvedEffect } from './effect-resolution';
import { giveUp, giveUpUnheard, type GiveUpDeps, type Why } from './give-up';
import { begin, close, settledOf, type ReceiptFacts } from './settlement';
import type { TargetFreezes } from './target-freezes';
import { targetContext } from './targets';
import { verifyChange, type RefusedChange, type VerificationDeps, type VerifiedChange } from './verify-change';

export interface CommitDeps extends VerificationDeps, Omit<GiveUpDeps, 'ledger'> {
  readonly ledger: Ledger;
  readonly freezes: TargetFreezes;
  /** Public keys of the operators whose word on an unknown effect counts. */
  readonly operators: readonly string[];
}

/** The committer's three endings. Each may be called again at any time, by anybody: the ledger and the marker decide. */
export function createCommitActivities(deps: CommitDeps): Pick<CommitActivities, 'commit' | 'rollback' | 'reconcile'> {
  return {
    commit: (input) => commit(deps, input),
    rollback: (input) => rollback(deps, input),
    reconcile: (input) => reconcile(deps, input.changeId),
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
  const { planHash, stagingSha, fingerprint } = verified;
  const stands = await begin(deps, changeId, { kind: 'intent' }, { planHash, stagingSha, fingerprint });
  if (stands.kind === 'decided')
    return endRolledBack(deps, factsOfVerified(verified), stands.reason, stands.explanation);
  // A reject that was written while this verified came before the intent, and counts (D4).
  const now = await deps.ledger.read(changeId);
  if (answersIn(now) !== answersIn(rows)) {
    const again = await verifyChange(deps, parsed.data, now);
    if (!again.ok) return refused(deps, parsed.data, again, now);
  }
  return apply(deps, verified, stands.at);
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
  const body = { check, explanation: toWellFormed(explanation.slice(0, 4000)), input: { ...input } };
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

async function apply(deps: CommitDeps, change: VerifiedChange, intentAt: string): Promise<CommitResult> {
  const facts = factsOfVerified(change);
  if (change.plan.mode === 'cooperative') {
    // The signed receipt is all that we do; the requester performs the effect.
    return close(deps, facts, {
      state: 'COMMITTED',
      reason: null,
      explanation: 'Countersigned; the requester performs the effect',
      effect: null,
    });
  }
  const effects = deps.tools.get(change.plan.sourceTool)?.effects ?? null;
  const approved = change.staging;
  if (effects === null || approved === null)
    throw new Error('An enforced change was verified without effects or dry run');
  const result = await withHeartbeat((signal, beat) =>
    effects.commit({
      ...targetContext(deps.targets, change.plan.target, 'commit', facts.changeId, change.plan.staging, signal, beat),
      diff: change.diff,
      facts: change.facts,
      approved,
      idempotency: facts.changeId,
      intentAt,
      sends: deps.sends(facts.changeId),
      postCheck: async (record) => postCheck(deps, change, facts.changeId, record),
    }),
  );
  const unsettled = { effects, settings: change.plan.staging, approved, intentAt };
  const nothing = (
    reason: Why['reason'],
    { explanation, final }: { readonly explanation: string; readonly final?: true },
  ): Promise<CommitResult> =>
    final === true
      ? endRolledBack(deps, facts, reason, explanation)
      : giveUp(deps, facts, unsettled, { reason, explanation });
  switch (result.kind) {
    case 'applied':
      return close(deps, facts, {
        state: 'COMMITTED',
        reason: null,
        explanation:
          result.stands === undefined
            ? 'Committed'
            : `Committed, and it should not stand: ${result.stands}. Submit its reverse as a new change`,
        effect: result.stands === undefined ? result.effect : { ...result.effect, shouldNotStand: result.stands },
      });
    case 'compensated':
      return close(deps, facts, {
        state: 'COMPENSATED',
        reason: 'post_failed',
        explanation: result.explanation,
        effect: result.effect,
      });
    case 'stale':
      return nothing('stale_base', result);
    case 'post_failed':
      return nothing('post_failed', result);
    case 'refused':
      return nothing('commit_failed', result);
    case 'sealed':
      return giveUpUnheard(deps, facts, unsettled, 'The change was sealed: it had been given up before this attempt');
    case 'unknown':
      return { state: 'EFFECT_UNKNOWN', explanation: result.explanation };
    default:
      return result satisfies never;
  }
}

/** Post validators on what the transaction really did; a result equal to a confirmed one passes, any other that is not ALLOW rolls back. */
async function postCheck(
  deps: CommitDeps,
  change: VerifiedChange,
  changeId: string,
  record: StagingRecord,
): Promise<{ ok: true } | { ok: false; explanation: string }> {
  const { plan, diff, inputSha } = change;
  const evaluation = { changeId, inputSha, diff, staging: { record, sha: stagingShaOf(record) } };
  const results = await deriveResults(deps, plan, (v) => v.phase === 'post', evaluation);
  const outcomes = new Map(Object.entries(results).map(([id, result]) => [id, { kind: 'result', result } as const]));
  const failing = assembleAnswered({ plan, changeId, outcomes, waiving: change.waiving }).filter((f) => {
    const shown = change.findings.find((s) => s.validator_id === f.validator_id);
    const same = shown !== undefined && said(shown) === said(f);
    return f.status !== 'ALLOW' && !(f.class === 'SAFETY' && f.status === 'WARN') && !same;
  });
  return failing.length === 0
    ? { ok: true }
    : { ok: false, explanation: failing.map((f) => `${f.validator_id}: ${f.reason}`).join('\n') };
}

/** What a finding says, apart from where: the record of commit time has another hash wherever its server version, say, differs. */
function said({ evidenceRefs: _refs, ...rest }: ValidatorFinding): string {
  return canonicalJson(rest);
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
  if (stands.kind === 'decided') return endRolledBack(deps, facts, stands.reason, stands.explanation);
  if (tool === undefined) throw unknownSourceTool(facts.sourceTool, deps.tools.keys());
  // Cooperative: no receipt was given, so nobody has performed anything, and this one says that nobody may (E3).
  if (tool.effects === null)
    return endRolledBack(deps, facts, 'commit_failed', 'The commit did not report, and no receipt was given');
  const unsettled = {
    effects: tool.effects,
    settings: await settingsOf(deps, facts.planHash),
    approved: facts.stagingSha === null ? null : await deps.stagingRecords.get(changeId, facts.stagingSha),
    intentAt: stands.at,
  };
  const resolution = resolutionOf(rows, facts, deps.operators);
  const ask = (): Promise<CommitResult> => giveUpUnheard(deps, facts, unsettled, unreported);
  return resolution === null ? ask() : endResolved(deps, facts, resolution, ask);
}

/** O1: the target is asked first, and what it tells stands. */
async function endResolved(
  deps: CommitDeps,
  facts: ReceiptFacts,
  resolution: EffectResolution,
  ask: () => Promise<CommitResult>,
): Promise<CommitResult> {
  try {
    const told = await ask();
    if (told.state !== 'EFFECT_UNKNOWN') return told;
  } catch (error) {
    // What is no failure of the target, such as our own database being away, is no ground to believe anybody else.
    const type = error instanceof ApplicationFailure ? error.type : undefined;
    if (type !== FailureType.Target && type !== FailureType.Configuration) throw error;
  }
  const { applied, reason } = resolution;
  return close(deps, facts, {
    state: applied ? 'COMMITTED' : 'ROLLED_BACK',
    reason: applied ? null : 'commit_failed',
    explanation: `An operator found that it was ${applied ? '' : 'not '}applied: ${reason}`,
    effect: resolvedEffect(resolution),
  });
}

/** A plan that was revoked after the commit began must not leave its effect unknown: the marker is read with the adapter's own settings. */
async function settingsOf(deps: CommitDeps, planHash: string): Promise<JsonObject> {
  try {
    return (await deps.plans.byHash(planHash)).plan.staging as JsonObject;
  } catch (error) {
    if (error instanceof ApplicationFailure && error.type === FailureType.PolicyMoved) return {};
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
  const explanation = String(input.explanation).slice(0, 4000);
  const stands = await begin(deps, input.changeId, { kind: 'decided', reason: reason.data, explanation }, {}, first);
  if (stands.kind === 'decided') return endRolledBack(deps, facts, stands.reason, stands.explanation);
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

function endRolledBack(
  deps: CommitDeps,
  facts: ReceiptFacts,
  reason: RollbackReason,
  explanation: string,
): Promise<Settled> {
  return close(deps, facts, { state: 'ROLLED_BACK', reason, explanation, effect: null });
}

function factsOfVerified(change: VerifiedChange): ReceiptFacts {
  const { submission, inputSha, plan, planHash, stagingSha, fingerprint } = change;
  const { tenant, target, sourceTool, diffSha } = submission;
  return {
    changeId: changeIdOf(submission),
    tenant,
    target,
    sourceTool,
    inputSha,
    diffSha,
    planHash,
    stagingSha,
    fingerprint,
    mode: plan.mode,
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
