import type { AdmittedAnswer, AnswerCode } from '../policy/contracts/answer';
import type { LedgerRow } from '../policy/contracts/ledger';
import { openEnvelope } from '../policy/evidence/dsse';
import type { KeyLookup } from '../policy/evidence/key-registry';
import type { SpentNonce } from '../policy/evidence/ledger-port';
import { CLOCK_SKEW_MS, assessAnswer, type AnswerScope, type CountedAnswer } from './assess-answer';
import { withoutLaterRevocations } from './revoked-later';
import { verifyOpened } from './verify-envelope';

/** Idempotency key in the ledger: the same answer is recorded once. */
export function answerFactKey(answer: Pick<CountedAnswer, 'digest' | 'violationId'>): string {
  return `answer:${answer.violationId}:${answer.digest}`;
}

/** Kinds of the rows with an admitted answer. A retraction has a separate kind. */
export function answerRowKind({ decision }: Pick<CountedAnswer, 'decision'>): 'answer_accepted' | 'retracted' {
  return decision === 'retract' ? 'retracted' : 'answer_accepted';
}

export interface VerifyAnswers {
  /** Rows of one change whose chain was verified. Rows of other kinds are ignored. */
  readonly rows: readonly LedgerRow[];
  /** From the verifier's own plan, staging record and registry; `fingerprint` recomputed. */
  readonly scope: AnswerScope;
  /** The registry as it is now: confirmations by a key that was revoked since do not count. */
  readonly keys: KeyLookup;
  /** The spent nonces of this change; null offline, when only the rows can be compared. */
  readonly nonces: readonly SpentNonce[] | null;
  /** Current time, ISO 8601. */
  readonly at: string;
}

export interface VerifiedAnswers {
  /** All that verify. `decide` counts the last word of each person on each violation. */
  readonly answers: readonly AdmittedAnswer[];
  /** Confirmations that counted until their key was revoked. They support no commit, but show that one could have begun. */
  readonly lapsed: readonly AdmittedAnswer[];
  /**
   * Rejects of this change that a registered approver signed. They stay valid after a reset, a new disclosure, a revocation of
   * the key and the expiry of the answer. Any one of them forbids the commit.
   */
  readonly standingRejects: readonly AdmittedAnswer[];
  /** Rejects that came after the revocation of their key. They forbid the commit too, but do not support the reason `declined`. */
  readonly rejectsOfRevoked: readonly AdmittedAnswer[];
  /** Rows of admitted answers that do not verify. */
  readonly refused: readonly { readonly n: number; readonly code: AnswerCode; readonly message: string }[];
}

/** Verifies every admitted answer again as it was sent. Person, digest and decision in the row are not trusted. */
export function verifyAcceptedAnswers({ rows, scope, keys, nonces, at }: VerifyAnswers): VerifiedAnswers {
  const answers: AdmittedAnswer[] = [];
  const lapsed: AdmittedAnswer[] = [];
  const standingRejects: AdmittedAnswer[] = [];
  const rejectsOfRevoked: AdmittedAnswer[] = [];
  const refused: { n: number; code: AnswerCode; message: string }[] = [];
  const seenNonces = new Set<string>();
  for (const row of rows) {
    if ((row.kind !== 'answer_accepted' && row.kind !== 'retracted') || row.changeId !== scope.changeId) continue;
    const sent = row.body['answer'];
    const verdict = assessAnswer(sent, scope, keys, row.at);
    const problem = verdict.code === 'accepted' ? rowProblem(row, verdict, seenNonces, nonces, at) : verdict;
    if (problem !== null) {
      refused.push({ n: row.n, code: problem.code, message: problem.message });
      const keysThen = withoutLaterRevocations(keys, row.at);
      const then = problem.code === 'revoked_key' ? assessAnswer(sent, scope, keysThen, row.at) : null;
      if (then?.code === 'accepted' && then.decision === 'confirm' && !rowProblem(row, then, seenNonces, nonces, at))
        lapsed.push(toAdmitted(then, row.at));
      const standing = standingAnswer(row, sent, scope, keys);
      if (standing?.decision === 'reject')
        (isRevoked(sent, keysThen) ? rejectsOfRevoked : standingRejects).push(standing);
      if (standing?.decision === 'retract') answers.push(standing);
      continue;
    }
    if (verdict.code !== 'accepted') continue;
    const admitted = toAdmitted(verdict, row.at);
    if (admitted.decision === 'reject') standingRejects.push(admitted);
    answers.push(admitted);
  }
  return { answers, lapsed, standingRejects, rejectsOfRevoked, refused };
}

function isRevoked(sent: unknown, keys: KeyLookup): boolean {
  const opened = openEnvelope('answer', sent);
  return opened.ok && keys(opened.keyid)?.revokedAt != null;
}

/** The answers that verify, and the rejects that stay valid. Input of `decide`, which finds the last word of each person. */
export function statementsOf({ answers, standingRejects }: VerifiedAnswers): readonly AdmittedAnswer[] {
  return [...new Map([...standingRejects, ...answers].map((each) => [each.digest, each])).values()];
}

export function toAdmitted(answer: CountedAnswer, admittedAt: string): AdmittedAnswer {
  const { violationId, fingerprint, decision, person, signed, reason, issuedAt, retracts, digest } = answer;
  return { violationId, fingerprint, decision, person, signed, reason, issuedAt, retracts, admittedAt, digest };
}

type Problem = { readonly code: AnswerCode; readonly message: string };

function rowProblem(
  row: LedgerRow,
  answer: CountedAnswer,
  seenNonces: Set<string>,
  nonces: readonly SpentNonce[] | null,
  at: string,
): Problem | null {
  if (row.kind !== answerRowKind(answer))
    return { code: 'malformed', message: `a row ${row.kind} contains the decision ${answer.decision}` };
  // A row with a future time could make an answer valid that has expired.
  if (Date.parse(row.at) > Date.parse(at) + CLOCK_SKEW_MS)
    return { code: 'expired', message: `the row has the time ${row.at}, which is in the future` };
  if (answer.keyId === null || answer.nonce === null) return null;
  const place = `${answer.keyId} ${answer.nonce}`;
  if (seenNonces.has(place)) return { code: 'nonce_reused', message: 'another row has the same nonce' };
  seenNonces.add(place);
  if (nonces === null) return null;
  const spent = nonces.find((s) => s.keyId === answer.keyId && s.nonce === answer.nonce);
  if (spent === undefined || spent.changeId !== row.changeId || spent.factKey !== answerFactKey(answer)) {
    return { code: 'nonce_reused', message: 'its nonce was not spent by this answer' };
  }
  return null;
}

/**
 * A reject or a retraction that no longer verifies, for example because its key was revoked. It stays valid: otherwise the
 * revocation of a key could loosen the outcome.
 */
function standingAnswer(row: LedgerRow, sent: unknown, scope: AnswerScope, keys: KeyLookup): AdmittedAnswer | null {
  const opened = openEnvelope('answer', sent);
  if (!opened.ok) return null;
  const { predicate } = opened.statement;
  if (predicate.decision === 'confirm' || predicate.changeId !== scope.changeId) return null;
  const key = keys(opened.keyid);
  if (key === undefined || key.kind !== 'approver' || key.subject.type !== 'person' || (key.demo && !scope.development))
    return null;
  if (!verifyOpened(opened, key, 'answer').ok) return null;
  // If the violation is known, only members of its group may answer it.
  const violation = scope.violations.find((v) => v.violationId === predicate.violationId);
  if (violation !== undefined && !violation.members.includes(key.subject.id)) return null;
  const { violationId, fingerprint, decision, reason, issuedAt, retracts } = predicate;
  const digest = String(row.body['digest'] ?? '');
  return {
    violationId,
    fingerprint,
    decision,
    issuedAt,
    retracts,
    person: key.subject.id,
    signed: true,
    reason,
    admittedAt: row.at,
    digest,
  };
}
