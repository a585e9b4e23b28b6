/**
 * The last verifier (DESIGN §2). Everything that it says rests on the ledger's signed records, the store's bytes, its own
 * staging record and its own copy of the policy; nothing on workflow input but which change is meant.
 *
 * C1 Every derived finding is recomputed from the bytes; every attested one is verified.
 * C2 What people were shown (`disclosed`) must be exactly what comes out here, or nothing is committed.
 * C3 The one exception: a finding disclosed as an ERROR that is not reproducible. Its confirmation covers ALLOW or the
 *    same ERROR now, nothing else (records.md §3); and it was shown as an ERROR of this very validator, or it was not shown.
 * C4 Every answer is verified again, with the keys as they are now: a revocation acts at once.
 * C5 `decide` must say COMMIT, and the last answer that counts must be younger than the plan's commit window; without
 *    one, what was disclosed must be: a callback's yes is not for ever.
 */
import { CountersignFailure } from '../../policy/contracts/failure';
import { Submission, type DiffInput } from '../../policy/contracts/diff';
import { changeId as changeIdOf, inputSha as inputShaOf } from '../../policy/contracts/change-id';
import { FailureType } from '../../policy/contracts/failure-type';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import type { LedgerKind } from '../../policy/contracts/ledger';
import type { RollbackReason } from '../../policy/contracts/outcome';
import type { Plan } from '../../policy/contracts/plan';
import { stagingSha as stagingShaOf, type StagingRecord } from '../../policy/contracts/staging-record';
import type { PolicyCallbackResult, PolicyViolation } from '../../policy/contracts/violation';
import { decide, lastCountedAt } from '../../policy/decide/decide';
import { assembleFindings, findingsSha } from '../../policy/decide/findings';
import {
  buildViolations,
  callbackKey,
  callbackResultsSha,
  cardinalityOf,
  fingerprint,
  matchPolicies,
} from '../../policy/decide/violations';
import type { Waiving } from '../../policy/decide/waivers';
import { givenToCallback } from '../../policy/evidence/attested-given';
import type { ByteStore } from '../../policy/evidence/byte-store';
import { verifyChain, type StoredRow } from '../../policy/evidence/chain';
import type { KeyRegistry } from '../../policy/evidence/key-registry';
import type { LedgerReader } from '../../policy/evidence/ledger-port';
import type { Facts } from '../../policy/contracts/facts';
import type { AnswerScope } from '../../signing/judge-answer';
import { verifyAcceptedAnswers } from '../../signing/verify-answers';
import { loadDiff } from '../review/load-diff';
import { deriveResults, readFacts, type DerivationDeps } from '../review/derive';
import { requesterOf } from '../review/requester';
import type { PlanSource } from '../../storage/plans/plan-source';
import { AttestedRecords } from './attested-outcomes';
import { differenceText, readDisclosed, settleErrors } from './disclosed-findings';
import { addedUp, collectOutcomes } from './recomputed-outcomes';

export interface StagingRecords {
  get(changeId: string, stagingSha: string): Promise<StagingRecord | null>;
}

export interface VerificationDeps extends DerivationDeps {
  readonly store: ByteStore;
  readonly plans: PlanSource;
  readonly keys: KeyRegistry;
  readonly stagingRecords: StagingRecords;
  readonly ledger: LedgerReader;
  /** Whether this committer's own configuration marks the target `development`; null for a target that it does not serve. */
  readonly targetIsDevelopment: (target: string) => boolean | null;
  readonly now: () => Date;
}

export interface VerifiedChange {
  readonly ok: true;
  readonly submission: Submission;
  readonly inputSha: string;
  readonly plan: Plan;
  readonly planHash: string;
  readonly diff: DiffInput;
  readonly facts: Facts;
  readonly staging: StagingRecord | null;
  readonly stagingSha: string | null;
  readonly findings: readonly ValidatorFinding[];
  readonly waiving: Waiving;
  readonly violations: readonly PolicyViolation[];
  readonly fingerprint: string | null;
}

/** Which check said no; it goes into the ledger as it stands. */
export interface RefusedChange {
  readonly ok: false;
  readonly check: string;
  readonly reason: Extract<RollbackReason, 'commit_refused' | 'policy_moved'>;
  readonly explanation: string;
}

export type Verification = VerifiedChange | RefusedChange;

function refuse(check: string, explanation: string, reason: RefusedChange['reason'] = 'commit_refused'): RefusedChange {
  return { ok: false, check, reason, explanation };
}

/** Verifies one change from its ledger rows. Retryable failures (store away) are thrown; every "no" is returned. */
export async function verifyChange(
  deps: VerificationDeps,
  input: {
    readonly changeId: string;
    readonly planHash: string;
    readonly stagingSha: string | null;
    readonly fingerprint: string | null;
  },
  rows: readonly StoredRow[],
): Promise<Verification> {
  try {
    return await verify(deps, input, rows);
  } catch (error) {
    // Not retryable means: this process knows that it cannot verify the change.
    if (error instanceof CountersignFailure && error.nonRetryable) {
      return refuse(
        error.type ?? 'unknown',
        error.message,
        error.type === FailureType.PolicyMoved ? 'policy_moved' : 'commit_refused',
      );
    }
    throw error;
  }
}

async function verify(
  deps: VerificationDeps,
  input: Parameters<typeof verifyChange>[1],
  rows: readonly StoredRow[],
): Promise<Verification> {
  const { changeId } = input;
  const chain = verifyChain(rows);
  if (!chain.ok) return refuse('ledger_chain', `Row ${chain.n} of the ledger: ${chain.problem}`);
  const submitted = Submission.safeParse(body(rows, 'submitted')?.['submission']);
  if (!submitted.success) return refuse('submission', 'The ledger has no readable submission of this change');
  const submission = submitted.data;
  if (changeIdOf(submission) !== changeId) return refuse('change_id', 'The submission in the ledger is another change');
  const planned = body(rows, 'planned')?.['planHash'];
  if (planned !== input.planHash)
    return refuse('plan_hash', 'The plan is not the one that this review pinned at its start');

  const { plan, planHash } = await deps.plans.byHash(input.planHash, 'now');
  if (plan.target !== submission.target || plan.sourceTool !== submission.sourceTool)
    return refuse('plan_scope', 'The plan is for another target or tool');
  const mode = deps.tools.get(plan.sourceTool)?.mode;
  if (mode !== undefined && mode !== plan.mode)
    return refuse('mode', `The plan says ${plan.mode}, and ${plan.sourceTool} is ${mode} here`);
  const development = deps.targetIsDevelopment(plan.target);
  if (development === null) return refuse('target', `This committer serves no target "${plan.target}"`);
  if (plan.development && !development)
    return refuse('environment', 'The policy marks the target as development; this committer does not');

  const inputSha = inputShaOf(submission);
  const diff = await loadDiff(deps.store, deps.tools, { ...submission, inputSha });
  // Now, not as of a second ago: nobody looks at a revocation after this.
  const keys = await deps.keys.snapshot(0);
  const requester = requesterOf(submission, plan.development, keys);
  if (requester.kind === 'refused') return refuse('submission_signature', requester.why);
  const person = requester.kind === 'known' ? requester.person : null;

  const staging = input.stagingSha === null ? null : await deps.stagingRecords.get(changeId, input.stagingSha);
  if (input.stagingSha !== null && (staging === null || stagingShaOf(staging) !== input.stagingSha))
    return refuse('staging_record', 'The committer has no such staging record of this change');
  if (staging === null && plan.mode === 'enforced')
    return refuse('staging_record', 'An enforced change needs a dry run');

  const attested = new AttestedRecords(rows, keys, plan.development);
  const evaluation = {
    changeId,
    inputSha,
    diff,
    staging: staging === null ? null : { record: staging, sha: stagingShaOf(staging) },
  };
  const derived = await deriveResults(deps, plan, () => true, evaluation);
  const disclosed = readDisclosed(rows);
  if (disclosed === 'unreadable') return refuse('disclosed', 'What was disclosed cannot be read');

  const sums = await addedUp(deps, plan, { changeId, inputSha, submission, requester: person, rows, diff });
  const outcomes = collectOutcomes(plan, derived, attested, sums, {
    changeId,
    inputSha,
    planHash,
    stagingSha: input.stagingSha,
    submission,
  });
  const { tenant, target, sourceTool } = submission;
  const waiving = {
    context: { tenant, target, sourceTool, requester: person, inputSha },
    at: rows.find(({ row }) => row.kind === 'submitted')?.row.at ?? '',
  };
  const recomputed = assembleFindings({ plan, changeId, outcomes, waiving });
  const findings = settleErrors(plan, recomputed, disclosed?.findings ?? null);
  if (findings === null) return refuse('findings', differenceText(recomputed, disclosed?.findings ?? []));

  const rejects = await deps.ledger.rejectedInputs(inputSha, changeId);
  if (rejects.length > 0 && !toldOfRejects(plan, findings))
    return refuse(
      'previously_rejected',
      `The same change was rejected at ${rejects[0]?.at ?? ''}, after this review had been opened; submit it again`,
    );

  const triggered = matchPolicies(plan, findings, cardinalityOf(staging));
  if (triggered.length > 0 !== (disclosed !== null))
    return refuse(
      'disclosed',
      triggered.length > 0 ? 'Violations stand that nobody was shown' : 'Violations were shown that do not stand',
    );
  const callbackResults: Record<string, PolicyCallbackResult> = {};
  for (const t of triggered) {
    const finding = findings[t.findingIndex];
    const validator = plan.validators[t.findingIndex];
    if (t.callback === null || finding === undefined || validator === undefined) continue;
    const expected = {
      kind: 'callback' as const,
      subject: callbackKey(t),
      changeId,
      inputSha,
      planHash,
      logicHash: validator.logic_hash,
      stagingSha: input.stagingSha,
    };
    const result = attested.callback({ ...expected, given: givenToCallback(finding, t, inputSha) });
    if (result !== null) callbackResults[callbackKey(t)] = result;
  }
  const violations = buildViolations({
    plan,
    planHash,
    inputSha,
    findings,
    triggered,
    callbackResults,
    requester: person,
  });
  const bound =
    triggered.length === 0
      ? null
      : fingerprint({
          changeId,
          inputSha,
          stagingSha: input.stagingSha,
          planHash,
          findingsSha: findingsSha(findings),
          callbackResultsSha: callbackResultsSha(callbackResults),
          violationIds: violations.map((v) => v.violationId),
        });
  if (bound !== (disclosed?.fingerprint ?? null) || bound !== input.fingerprint)
    return refuse('fingerprint', 'What people were shown is not what the committer finds');

  const scope: AnswerScope = {
    changeId,
    context: {
      tenant: submission.tenant,
      target: submission.target,
      environment: plan.development ? 'development' : 'production',
    },
    answersMode: plan.answers,
    development: plan.development,
    fingerprint: bound,
    requester: person,
    violations: violations.map((v) => ({ ...v, members: plan.groups[v.group]?.members ?? [] })),
  };
  const at = deps.now().toISOString();
  const nonces = await deps.ledger.spentNonces(changeId);
  const { answers, standingRejects, refused } = verifyAcceptedAnswers({
    rows: rows.map((r) => r.row),
    scope,
    keys: keys.find,
    nonces,
    at,
  });
  const [rejected] = standingRejects;
  // A reject outlives a reset, a restart and whatever was disclosed since.
  if (rejected !== undefined)
    return refuse('standing_reject', `${rejected.person} rejected this change at ${rejected.admittedAt}`);
  const question = {
    plan,
    findings,
    violations,
    answers,
    requester: person,
    reachable: null,
    disclosedAt: disclosed?.at ?? null,
    at,
  };
  const decided = decide(question);
  if (decided.action !== 'COMMIT') {
    const why =
      decided.action === 'WAIT'
        ? `${decided.pending.length} violations lack a valid answer`
        : `${decided.reason}: ${decided.explanation}`;
    return refuse('decision', [why, ...refused.map((r) => `row ${r.n}: ${r.code}: ${r.message}`)].join('; '));
  }
  const since = lastCountedAt(question) ?? disclosed?.at ?? null;
  if (since !== null && !(Date.parse(at) <= Date.parse(since) + plan.commitWindowMs))
    return refuse(
      'commit_window',
      `What the commit rests on is of ${since}, older than the plan's commit window (${plan.commitWindowMs} ms)`,
    );
  return {
    ok: true,
    submission,
    inputSha,
    plan,
    planHash,
    diff,
    facts: await readFacts(deps, diff),
    staging,
    stagingSha: input.stagingSha,
    findings,
    waiving,
    violations,
    fingerprint: bound,
  };
}

/** The record of earlier rejects is of the opening. One that came since, to the same change under another request key, nobody here was shown. */
function toldOfRejects(plan: Plan, findings: readonly ValidatorFinding[]): boolean {
  return plan.validators.some(
    (v, i) => v.unit === 'builtin' && v.implementation === 'previously_rejected' && findings[i]?.status === 'BLOCK',
  );
}

function body(rows: readonly StoredRow[], kind: LedgerKind): Readonly<Record<string, unknown>> | undefined {
  return rows.find((r) => r.row.kind === kind)?.row.body;
}
