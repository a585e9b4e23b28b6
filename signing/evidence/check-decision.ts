import type { AdmittedAnswer } from '../../policy/contracts/answer';
import type { ValidatorFinding } from '../../policy/contracts/finding';
import { EFFECT_UNTOLD, NOTHING_APPLIED, type LedgerRow } from '../../policy/contracts/ledger';
import type { ReceiptPredicate } from '../../policy/contracts/outcome';
import { decide, lastCountedAt, type DecideInput } from '../../policy/decide/decide';
import { untilSettled } from '../../policy/evidence/recorded-findings';
import { CLOCK_SKEW_MS } from '../judge-answer';
import { verifyAcceptedAnswers, type VerifiedAnswers } from '../verify-answers';
import { fail } from './check';
import type { Disclosure, EvidenceScope } from './check-findings';
import { rowOf } from './check-rows';

/** Every accepted answer again, with the keys as they stood when the change was settled. */
export function checkAnswers(
  scope: EvidenceScope,
  disclosure: Disclosure,
  requester: string | null,
  at: string,
): readonly [string, VerifiedAnswers] {
  const { changeId, submission, plan, keys } = scope;
  const verified = verifyAcceptedAnswers({
    rows: untilSettled(scope.rows),
    scope: {
      changeId,
      context: {
        tenant: submission.tenant,
        target: submission.target,
        environment: plan.development ? 'development' : 'production',
      },
      answersMode: plan.answers,
      development: plan.development,
      fingerprint: disclosure.fingerprint,
      requester,
      violations: disclosure.violations.map((v) => ({ ...v, members: plan.groups[v.group]?.members ?? [] })),
    },
    keys,
    nonces: null,
    at,
  });
  const void_ = verified.refused.map((r) => `; row ${r.n} does not count: ${r.code}, ${r.message}`);
  return [`${verified.answers.map(saidBy).join(', ') || 'none'}${void_.join('')}`, verified];
}

function saidBy({ decision, person, signed }: AdmittedAnswer): string {
  return `${decision} by ${person}${signed ? '' : ' (NOT SIGNED)'}`;
}

export interface Settlement {
  readonly scope: EvidenceScope;
  readonly findings: readonly ValidatorFinding[];
  readonly disclosure: Disclosure;
  readonly answers: VerifiedAnswers;
  readonly requester: string | null;
  readonly policyRevokedAt: string | null;
}

/** `decide`, asked again: a COMMIT needs its yes; a rollback's reason must be what it says, where the reason is one of its own. */
export function checkDecision(of: Settlement, receipt: ReceiptPredicate, settled: LedgerRow): string {
  const { scope, findings, disclosure, answers, requester } = of;
  const late = receipt.reason === 'expired' ? CLOCK_SKEW_MS : 0;
  const question: DecideInput = {
    plan: scope.plan,
    findings,
    violations: disclosure.violations,
    answers: answers.answers,
    requester,
    reachable: null,
    disclosedAt: disclosure.at,
    at: new Date(Date.parse(settled.at) + late).toISOString(),
  };
  const decided = decide(question);
  const says = decided.action === 'ROLLBACK' ? `ROLLBACK (${decided.reason})` : decided.action;
  if (receipt.action === 'COMMIT') {
    if (decided.action !== 'COMMIT') fail(`the receipt says COMMIT, and what stands here gives ${says}`);
    checkStillGood(of, question, settled);
    return 'COMMIT follows from findings and answers';
  }
  return rollbackBorneOut(of, receipt, decided, says);
}

function checkStillGood(
  { scope, disclosure, answers, policyRevokedAt }: Settlement,
  question: DecideInput,
  settled: LedgerRow,
): void {
  const [rejected] = answers.standingRejects;
  if (rejected !== undefined)
    fail(`${rejected.person} rejected this change at ${rejected.admittedAt}, and it was committed`);
  const at = Date.parse(settled.at);
  const since = lastCountedAt(question) ?? disclosure.at;
  if (since !== null && !(at <= Date.parse(since) + scope.plan.commitWindowMs + CLOCK_SKEW_MS))
    fail(`what the commit rests on is of ${since}, older than the plan's commit window at ${settled.at}`);
  if (policyRevokedAt !== null && Date.parse(policyRevokedAt) <= at)
    fail(`the policy was revoked at ${policyRevokedAt}, before the commit`);
  if (scope.plan.mode === 'enforced' && scope.staging === null)
    fail('an enforced change was committed without a dry run');
}

function rollbackBorneOut(
  { scope }: Settlement,
  { reason }: ReceiptPredicate,
  decided: ReturnType<typeof decide>,
  says: string,
): string {
  const decidedReason = decided.action === 'ROLLBACK' ? decided.reason : null;
  const borneOut = (ok: boolean): string =>
    ok
      ? `ROLLBACK (${reason}) follows from what stands here`
      : fail(`the receipt says ROLLBACK (${reason}), and what stands here gives ${says}`);
  const has = (kind: LedgerRow['kind']): boolean => rowOf(scope.rows, kind) !== null;
  switch (reason) {
    case 'declined':
    case 'expired':
      return borneOut(decidedReason === reason);
    // A guardian that could not answer leaves no row: then the array is incomplete, which is no commit either.
    case 'forbidden':
    case 'contract_violation':
      return borneOut(
        decidedReason === 'forbidden' || decidedReason === 'contract_violation' || refusedAt(scope, 'stage'),
      );
    // Who could be reached is not in the ledger.
    case 'no_handler':
      return borneOut(decided.action !== 'COMMIT');
    case 'commit_refused':
      return borneOut(scope.rows.some(({ kind, body }) => kind === 'refused' && !ABOUT_EFFECTS.has(body['check'])));
    case 'stale_base':
    case 'post_failed':
      return borneOut(has('intent'));
    case 'withdrawn':
    case 'superseded':
    case 'policy_moved':
    case 'commit_failed':
      return `ROLLBACK (${reason}): what stands here gave ${says}`;
    case null:
      return fail('a rollback has a reason');
    default:
      return reason satisfies never;
  }
}

/** What the committer says of a change that it had verified: no ground to refuse one. */
const ABOUT_EFFECTS: ReadonlySet<unknown> = new Set([NOTHING_APPLIED, EFFECT_UNTOLD]);

function refusedAt(scope: EvidenceScope, check: string): boolean {
  return scope.rows.some((row) => row.kind === 'refused' && row.body['check'] === check);
}
