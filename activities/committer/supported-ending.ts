/**
 * Why a review may be rolled back, by its rows and by what this committer verifies itself. The workflow only proposes a reason:
 * anyone with write access to the namespace can schedule `rollback` and `reconcile` for any review.
 */
import { CountersignFailure } from '../../policy/contracts/failure';
import { FailureType } from '../../policy/contracts/failure-type';
import type { RollbackReason } from '../../policy/contracts/outcome';
import type { Plan } from '../../policy/contracts/plan';
import { decide } from '../../policy/decide/decide';
import { cardinalityOf, matchPolicies } from '../../policy/decide/violations';
import type { StoredRow } from '../../policy/evidence/chain';
import { untilSettled } from '../../policy/evidence/recorded-findings';
import { cutExplanation } from '../../policy/text/cut-text';
import { verifyReview } from '../../signing/verify-review';
import { statementsOf } from '../../signing/verify-answers';
import type { Disclosure, ReviewFacts } from '../../signing/verify-review/record';
import {
  BY_STRENGTH,
  ROLLBACK_SUPPORT,
  UNSUPPORTED_ROLLBACK,
  type Ending,
} from '../../signing/verify-review/rollback-reasons';
import { whoCouldAnswer } from '../review/who-can-answer';
import { refusedEntry } from '../review/refused-entry';
import { collectReview } from './collect-record';
import type { CommitDeps } from './commit-deps';
import type { ReceiptFacts } from './settlement';
import { verifyChange } from './verify-change';

/** Reasons that are a finding. */
const IS_A_FINDING: ReadonlySet<RollbackReason> = new Set(['forbidden', 'contract_violation']);

export interface SupportedEnding {
  readonly reason: RollbackReason;
  readonly explanation: string;
  /** When it was verified, ISO 8601. */
  readonly at: string;
}

/**
 * The proposed reason if it is supported, else the strongest that is. Without one the refusal is recorded, once for each reason, and a
 * retryable VALIDATION_ERROR is thrown: an open review reaches a supported reason at its deadline at the latest.
 */
export async function supportedEnding(
  deps: CommitDeps,
  facts: ReceiptFacts,
  rows: readonly StoredRow[],
  proposed: RollbackReason,
): Promise<SupportedEnding> {
  const { ending, recomputed } = await endingOf(deps, facts, rows, proposed);
  const withoutFindings = { ...ending, findings: null, decided: null, triggered: 0 };
  for (const reason of [proposed, ...BY_STRENGTH]) {
    // A finding that is the reason was computed again, so that no row is trusted.
    const supported = recomputed || !IS_A_FINDING.has(reason) ? ending : withoutFindings;
    const explanation = ROLLBACK_SUPPORT[reason](supported);
    if (explanation !== null) return { reason, explanation: cutExplanation(explanation), at: ending.at };
  }
  const explanation = `The rows of this change do not support a rollback as ${proposed}`;
  const of = { changeId: facts.changeId, proposed };
  await deps.ledger.append(facts.changeId, [
    refusedEntry(deps.now(), { check: UNSUPPORTED_ROLLBACK, of, explanation }, { reason: proposed }),
  ]);
  throw CountersignFailure.retryable(explanation, FailureType.Validation, { reason: proposed });
}

async function endingOf(
  deps: CommitDeps,
  receipt: ReceiptFacts,
  rows: readonly StoredRow[],
  proposed: RollbackReason,
): Promise<{ readonly ending: Ending; readonly recomputed: boolean }> {
  const { changeId, stagingSha, fingerprint } = receipt;
  const asked = { changeId, planHash: receipt.planHash ?? '', stagingSha, fingerprint };
  const { record, sources, policyMoved } = await collectReview(deps, { ...asked, ending: proposed }, rows);
  const { facts, checks } = verifyReview(record, sources);
  const at = sources.at ?? '';
  const recomputed = checks.some(({ name, result }) => name === 'recomputed' && result === 'ok');
  // A row whose statement does not verify forbids the commit, but it does not support a receipt that says the change was withdrawn.
  const signed = facts.stopped != null;
  const known = await decidedOf(deps, facts, at);
  const asksForRefusal = proposed === 'commit_refused' || proposed === 'policy_moved';
  const verified = asksForRefusal ? await verifyChange(deps, asked, rows) : null;
  const moved = sources.policy?.ok === false ? sources.policy.explanation : 'The plan can no longer be used';
  const ending: Ending = {
    rows: untilSettled(rows.map(({ row }) => row)).filter(
      ({ kind }) => signed || (kind !== 'withdrawn' && kind !== 'superseded'),
    ),
    begun: false,
    at,
    plan: facts.pinned?.plan ?? null,
    findings: known === null ? null : (facts.findings ?? null),
    decided: known?.decided ?? null,
    triggered: known?.triggered ?? 0,
    given: known?.given ?? null,
    live: {
      policyMoved: policyMoved ? moved : null,
      refusal:
        verified === null || verified.ok ? null : { ...verified, discounted: (facts.answers?.refused.length ?? 0) > 0 },
    },
  };
  return { ending, recomputed };
}

/** What follows from the verified facts; null if one is missing. */
async function decidedOf(
  deps: CommitDeps,
  facts: Partial<ReviewFacts>,
  at: string,
): Promise<Pick<Ending, 'decided' | 'triggered' | 'given'> | null> {
  const { submission, pinned, findings, disclosure, answers, requester, staging } = facts;
  if (
    submission == null ||
    pinned == null ||
    findings === undefined ||
    disclosure === undefined ||
    answers === undefined
  )
    return null;
  if (requester === undefined) return null;
  const { plan } = pinned;
  const input = {
    plan,
    findings,
    violations: disclosure.violations,
    answers: statementsOf(answers),
    requester,
    reachable: await reachableAt(deps, plan, submission.tenant, disclosure),
    disclosedAt: disclosure.at,
    at,
  };
  return {
    decided: decide(input),
    triggered: matchPolicies(plan, findings, cardinalityOf(staging?.record ?? null)).length,
    given: { ...input, answers: [...input.answers, ...answers.lapsed] },
  };
}

/**
 * Who could answer when the violations were disclosed; null if nothing was. By the row, with which the workflow decides, and also by the
 * registry: a row that leaves out people does not support a rollback.
 */
async function reachableAt(
  { keys }: CommitDeps,
  plan: Plan,
  tenant: string,
  { fingerprint, at, reachable }: Disclosure,
): Promise<readonly string[] | null> {
  if (fingerprint === null || at === null) return null;
  return [...new Set([...reachable, ...(await whoCouldAnswer(keys, plan, tenant, at))])];
}
