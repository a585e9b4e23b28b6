/**
 * A review as its ledger rows, stored bytes and signed policy prove it. Whatever people are shown or asked to sign comes from
 * here, never from a workflow. Pure: no network, no database, no clock.
 *
 * R1 Fingerprint, violations, findings, requester, plan and dry run are recomputed or verified (`verifyReview`); on any
 *    difference there is no review, only the differences.
 * R2 A review with a receipt is verified as `countersign verify` does it; one without as `open`.
 * R3 Unsigned rows can be withheld or invented by the server that serves them. Then the fingerprint is another one, so a
 *    signature for it has no effect on the real review.
 */
import type { JsonObject } from '../policy/contracts/canonical-json';
import type { AdmittedAnswer } from '../policy/contracts/answer';
import type { ValidatorFinding } from '../policy/contracts/finding';
import { inputSha as inputShaOf } from '../policy/contracts/change-id';
import { EFFECT_UNKNOWN, type LedgerRow } from '../policy/contracts/ledger';
import type { ReceiptPredicate, ReviewOutcome, ReviewState } from '../policy/contracts/outcome';
import type { Plan } from '../policy/contracts/plan';
import { openingWarnings } from '../policy/contracts/opening-warnings';
import type { StagingRecord } from '../policy/contracts/staging-record';
import { toFindingProjection, type ReviewStatus, type ViolationStatus } from '../policy/contracts/status';
import { decide, type Decided } from '../policy/decide/decide';
import { statementsOf } from './verify-answers';
import { violationStatus } from '../policy/decide/violation-status';
import { fromBase64 } from '../policy/evidence/base64';
import { openEnvelope } from '../policy/evidence/dsse';
import type { Evidence } from '../policy/evidence/bundle';
import { unreadableRows, unreadableRowText } from '../policy/evidence/unreadable-rows';
import { recordOf } from './verify-evidence';
import { isMet, verifyReview } from './verify-review';
import { stricterSince } from './verify-review/attested';
import { rowOf } from './verify-review/checking';
import { RECORD_ONLY, type CheckResult, type EvidenceTrust, type ReviewFacts } from './verify-review/record';

/** The key that signed the submission, whose it is (`agent:shopbot`), and when the review was opened, ISO 8601. */
export interface SubmittedBy {
  readonly keyId: string;
  readonly subject: string;
  readonly at: string;
}

export interface VerifiedReview {
  readonly changeId: string;
  /** Built from verified facts only. */
  readonly status: ReviewStatus;
  /** Who submitted the change first; null if that submission is not signed by a registered key. */
  readonly submittedBy: SubmittedBy | null;
  readonly findings: readonly ValidatorFinding[];
  readonly plan: Plan | null;
  /** The dry run that the review rests on. */
  readonly staging: StagingRecord | null;
  /**
   * Rows before and after of the dry run, as `staging.previewSha` binds them. Null if there are none, or if the bundle was made
   * without them; then `staging.previewSha` is not null, and `signAnswers` refuses.
   */
  readonly preview: JsonObject | null;
  /** Null if the bundle was made without them. */
  readonly bytes: Uint8Array | null;
  /** The accepted answers that count. */
  readonly answers: readonly AdmittedAnswer[];
  /** Rows of refused answers and refused attempts, as the processes that refused them wrote them. */
  readonly refusals: readonly LedgerRow[];
  /** How the review ended, with the receipt of a trusted committer; null while it is open. */
  readonly outcome: ReviewOutcome | null;
}

/** A check that found a difference, and what differs. */
export type Difference = Pick<CheckResult, 'name' | 'detail'>;

export type ReviewVerdict =
  | { readonly ok: true; readonly review: VerifiedReview }
  | { readonly ok: false; readonly differences: readonly Difference[] };

/** `at`: the current time, ISO 8601. It decides which keys are revoked now, and whether a deadline has passed. */
export function verifiedReview(bundle: Evidence, trust: EvidenceTrust, at: string): ReviewVerdict {
  const ended = rowOf(rowsOf(bundle), 'receipt') !== null;
  const { checks, facts } = verifyReview(recordOf(bundle), {
    ...RECORD_ONLY,
    context: ended ? 'evidence' : 'open',
    trust,
    at: ended ? null : at,
  });
  const unmet = checks.filter((check) => !isMet(check));
  if (unmet.length > 0) {
    // A check that could not be made only repeats an earlier failure.
    const failed = unmet.filter(({ result }) => result === 'failed');
    const shown = failed.length > 0 ? failed : unmet;
    return { ok: false, differences: shown.map(({ name, detail }) => ({ name, detail })) };
  }
  const review = reviewOf(bundle, facts, at);
  return review ?? { ok: false, differences: [{ name: 'submission', detail: 'the change was never opened' }] };
}

function rowsOf({ rows }: Evidence): readonly LedgerRow[] {
  return rows.map(({ row }) => row);
}

function reviewOf(bundle: Evidence, facts: Partial<ReviewFacts>, at: string): ReviewVerdict | null {
  const rows = rowsOf(bundle);
  const { submission = null, receipt = null, pinned = null, staging = null } = facts;
  const subject = submission === null ? receipt : { ...submission, inputSha: inputShaOf(submission) };
  if (subject === null) return null;
  const { changeId } = bundle;
  const findings = facts.findings ?? [];
  const outcome = receipt === null ? null : outcomeOf(receipt, rows, facts);
  const decided = decidedOf(facts, at);
  const status: ReviewStatus = {
    changeId,
    state: receipt?.state ?? stateOf(rows),
    reason: receipt?.reason ?? null,
    mode: receipt?.mode ?? pinned?.plan.mode ?? null,
    tenant: subject.tenant,
    target: subject.target,
    sourceTool: subject.sourceTool,
    environment: pinned === null ? null : pinned.plan.development ? 'development' : 'production',
    requester: facts.requester ?? null,
    inputSha: subject.inputSha,
    diffSha: subject.diffSha,
    metadata: submission?.metadata ?? {},
    planHash: pinned?.planHash ?? null,
    stagingSha: staging?.sha ?? null,
    fingerprint: facts.disclosure?.fingerprint ?? null,
    findings: findings.map(toFindingProjection),
    violations: violationsOf(facts, decided),
    disclosedAt: facts.disclosure?.at ?? null,
    deadlineAt: receipt === null && decided?.action === 'WAIT' ? decided.nextDeadline : null,
    warnings: [
      ...warningsOf(facts),
      ...(rowOf(rows, 'intent', 'decided') === null ? refusedCommitOf(facts) : []),
      ...unreadableRows(rows).map(unreadableRowText),
    ],
  };
  return {
    ok: true,
    review: {
      changeId,
      status,
      submittedBy: submittedByOf(facts, rows),
      findings,
      plan: pinned?.plan ?? null,
      staging: staging?.record ?? null,
      preview: facts.preview ?? null,
      bytes: bundle.bytes === null ? null : fromBase64(bundle.bytes),
      answers: facts.answers?.answers ?? [],
      refusals: rows.filter(({ kind }) => kind === 'answer_refused' || kind === 'refused'),
      outcome,
    },
  };
}

function submittedByOf({ submission, keys }: Partial<ReviewFacts>, rows: readonly LedgerRow[]): SubmittedBy | null {
  const opened = submission?.envelope === undefined ? null : openEnvelope('submission', submission.envelope);
  const key = opened?.ok === true ? keys?.(opened.statement.predicate.keyId) : undefined;
  const at = rowOf(rows, 'submitted')?.at;
  if (key === undefined || at === undefined) return null;
  return { keyId: key.keyId, subject: `${key.subject.type}:${key.subject.id}`, at };
}

/** The state of a review that has no receipt yet. */
function stateOf(rows: readonly LedgerRow[]): ReviewState {
  const settled = rows.findIndex(({ kind }) => kind === 'intent' || kind === 'decided');
  if (settled !== -1) {
    const unknown = rows
      .slice(settled)
      .some(({ kind, body }) => kind === 'refused' && body['check'] === EFFECT_UNKNOWN);
    return unknown ? 'EFFECT_UNKNOWN' : 'COMMITTING';
  }
  return rowOf(rows, 'disclosed') === null ? 'RUNNING' : 'INTERVENTION_REQUIRED';
}

function decidedOf(facts: Partial<ReviewFacts>, at: string): Decided | null {
  const { pinned, disclosure, findings = [], answers, requester = null } = facts;
  if (pinned == null || disclosure?.fingerprint == null) return null;
  return decide({
    plan: pinned.plan,
    findings,
    violations: disclosure.violations,
    answers: answers == null ? [] : statementsOf(answers),
    requester,
    reachable: null,
    disclosedAt: disclosure.at,
    at,
  });
}

function violationsOf(facts: Partial<ReviewFacts>, decided: Decided | null): ViolationStatus[] {
  const { pinned, disclosure, answers, requester = null } = facts;
  const of = {
    groups: pinned?.plan.groups ?? {},
    requester,
    answers: answers == null ? [] : statementsOf(answers),
    disclosedAt: disclosure?.at ?? null,
  };
  return (disclosure?.violations ?? []).map((violation) =>
    violationStatus(violation, decided?.resolutions[violation.violationId] ?? 'pending', of),
  );
}

function warningsOf({ submission, pinned, requester = null, keys, answers }: Partial<ReviewFacts>): string[] {
  if (submission == null || pinned == null) return [];
  const signer = submission.envelope?.signatures[0]?.keyid;
  const demo = signer !== undefined && keys?.(signer)?.demo === true;
  const ignored = (answers?.refused ?? []).map(
    ({ n, code, message }) => `The accepted answer in row ${n} no longer counts (${code}: ${message})`,
  );
  return [...openingWarnings(pinned.plan, { known: requester !== null, demo }), ...ignored];
}

/** Why the committer would refuse this change, whatever people answer. Not asked once the change is settled. */
function refusedCommitOf({
  submission,
  policyRevokedAt,
  keys,
  findings = [],
  records = [],
  laterRecords = [],
  answers,
}: Partial<ReviewFacts>): string[] {
  const revoked = (keyId: string | undefined, what: string): string[] => {
    const at = keyId === undefined ? null : keys?.(keyId)?.revokedAt;
    return at == null ? [] : [`The key that signed ${what} was revoked at ${at}`];
  };
  const recordsOf = (keyId: string): string =>
    records.flatMap((record) => (record.keyId === keyId ? [record.subject] : [])).join(', ');
  return [
    ...(policyRevokedAt === undefined ? [] : [`The policy revision of this review was revoked at ${policyRevokedAt}`]),
    ...revoked(submission?.envelope?.signatures[0]?.keyid, 'the submission'),
    ...[...new Set(records.map(({ keyId }) => keyId))].flatMap((id) => revoked(id, `the record of ${recordsOf(id)}`)),
    ...stricterSince(findings, laterRecords).map(
      (id) => `A record of ${id} after the disclosure is stricter than what is shown`,
    ),
    ...(answers?.rejectsOfRevoked ?? []).map(
      ({ person, admittedAt }) => `A key of ${person} that was revoked before rejected it at ${admittedAt}`,
    ),
  ].map((why) => `${why}: this change cannot be committed; submit it again`);
}

function outcomeOf(
  receipt: ReceiptPredicate,
  rows: readonly LedgerRow[],
  { findings = [], disclosure }: Partial<ReviewFacts>,
): ReviewOutcome {
  const row = rowOf(rows, 'receipt');
  const { changeId, state, action, reason, mode, inputSha, planHash, stagingSha } = receipt;
  return {
    changeId,
    state,
    action,
    reason,
    explanation: String(row?.body['explanation'] ?? ''),
    mode,
    inputSha,
    planHash,
    stagingSha,
    // As the check `bound_words`: the receipt of a committer that could not compile the plan binds no findings.
    findings: receipt.findingsSha === null ? [] : [...findings],
    violations: [...(disclosure?.violations ?? [])],
    receipt: (row?.body['envelope'] ?? null) as ReviewOutcome['receipt'],
  };
}
