/**
 * Decides whether one answer counts. Used at admission, by the committer on the ledger rows, and offline.
 *
 * A1 The person comes from the registry entry of the key, never from the answer or a ledger row.
 * A2 Nothing in a signed answer is trusted before its signature is verified. The violation id of a refused answer is only used
 *    to report the refusal.
 * A3 Every member that an answer binds is compared here: change, fingerprint, violation, context, signer, time. The nonce is
 *    checked by the ledger.
 * A4 Which of several answers of one person counts is decided by `decide`. Here each answer is assessed without the others.
 */
import { UnsignedAnswer, type AnswerCode, type AnswerPredicate, type Decision } from '../policy/contracts/answer';
import { Envelope, type Submission } from '../policy/contracts/diff';
import { messageDigest, openEnvelope } from '../policy/evidence/dsse';
import type { KeyLookup } from '../policy/evidence/key-registry';
import type { PasskeyUse } from './passkey';
import { refusalCode, verifyWithRegistry } from './registry-verify';
import type { Plan } from '../policy/contracts/plan';
import type { PolicyViolation } from '../policy/contracts/violation';

/** Tolerated difference between the signer's clock and ours, in milliseconds. */
export const CLOCK_SKEW_MS = 60_000;
/** Characters of base64. A larger payload is refused before it is parsed. */
export const MAX_ANSWER_PAYLOAD = 32 * 1024;

/** The part of a violation that answers to it are compared with. */
interface AnswerableViolation {
  readonly violationId: string;
  readonly need: 'human' | 'callback' | 'hard';
  readonly group: string;
  readonly members: readonly string[];
  readonly fourEyes: boolean;
}

/** The expected values that an answer is compared with. None of them comes from the answer. */
export interface AnswerScope {
  readonly changeId: string;
  readonly context: AnswerPredicate['context'];
  readonly answersMode: 'signed' | 'unsigned';
  readonly development: boolean;
  /** Null until violations are disclosed. */
  readonly fingerprint: string | null;
  /** Null if unknown: four eyes then require two people, which `decide` counts. */
  readonly requester: string | null;
  readonly violations: readonly AnswerableViolation[];
}

/** A valid answer. It is admitted unless its nonce was spent, or the same person has given a later answer. */
export interface CountedAnswer {
  readonly code: 'accepted';
  readonly violationId: string;
  readonly fingerprint: string;
  readonly decision: Decision;
  readonly reason: string;
  readonly person: string;
  readonly signed: boolean;
  readonly digest: string;
  readonly keyId: string | null;
  readonly nonce: string | null;
  /** Null unless a passkey signed. */
  readonly passkeyUse: PasskeyUse | null;
  readonly issuedAt: string;
  readonly retracts: string | null;
}
export interface RefusedAnswer {
  readonly code: Exclude<AnswerCode, 'accepted' | 'duplicate'>;
  readonly message: string;
  /** From the answer, not verified; null if it cannot be read. */
  readonly violationId: string | null;
}

/** `at` is the time of admission, ISO 8601. Never throws. */
export function assessAnswer(
  answer: unknown,
  scope: AnswerScope,
  keys: KeyLookup,
  at: string,
): CountedAnswer | RefusedAnswer {
  const envelope = Envelope.safeParse(answer);
  if (envelope.success) return judgeSigned(envelope.data, scope, keys, at);
  const plain = UnsignedAnswer.safeParse(answer);
  if (plain.success) return judgeUnsigned(answer, plain.data, scope, at);
  return refuse(
    'malformed',
    'expected a signed envelope, or {violationId, fingerprint, decision: "confirm" | "reject" | "retract", retracts, reason, actor}',
    null,
  );
}

function judgeSigned(
  envelope: Envelope,
  scope: AnswerScope,
  keys: KeyLookup,
  at: string,
): CountedAnswer | RefusedAnswer {
  if (envelope.payload.length > MAX_ANSWER_PAYLOAD)
    return refuse('malformed', `expected a payload of at most ${MAX_ANSWER_PAYLOAD} characters`, null);
  const opened = openEnvelope('answer', envelope);
  if (!opened.ok) return refuse('malformed', `not a signed answer: ${opened.message}`, null);
  const { violationId } = opened.statement.predicate;
  const verified = verifyWithRegistry(envelope, 'answer', {
    keys,
    keyKind: 'approver',
    development: scope.development,
    use: { right: 'answer', tenant: scope.context.tenant },
  });
  if (!verified.ok) return refuse(refusalCode(verified.code), verified.message, violationId);
  const { predicate, key, passkeyUse } = verified;
  if (key.subject.type !== 'person')
    return refuse(
      'not_eligible',
      `key ${key.keyId} belongs to the ${key.subject.type} "${key.subject.id}"; only people can answer`,
      violationId,
    );
  if (predicate.changeId !== scope.changeId)
    return refuse('wrong_context', `signed for another change, ${predicate.changeId}`, violationId);
  const { tenant, target, environment } = predicate.context;
  if (tenant !== scope.context.tenant || target !== scope.context.target || environment !== scope.context.environment) {
    return refuse(
      'wrong_context',
      `signed for ${tenant} / ${target} / ${environment}, expected ${scope.context.tenant} / ${scope.context.target} / ${scope.context.environment}`,
      violationId,
    );
  }
  return (
    refusedByScope(predicate, key.subject.id, scope) ??
    refusedByTime(predicate, at) ?? {
      code: 'accepted',
      violationId,
      fingerprint: predicate.fingerprint,
      decision: predicate.decision,
      reason: predicate.reason,
      person: key.subject.id,
      signed: true,
      digest: messageDigest(envelope),
      keyId: key.keyId,
      nonce: predicate.nonce,
      passkeyUse,
      issuedAt: predicate.issuedAt,
      retracts: predicate.retracts,
    }
  );
}

function judgeUnsigned(
  sent: unknown,
  answer: UnsignedAnswer,
  scope: AnswerScope,
  at: string,
): CountedAnswer | RefusedAnswer {
  const { violationId, fingerprint, decision, retracts, reason, actor } = answer;
  if (scope.answersMode !== 'unsigned' || !scope.development) {
    return refuse(
      'unsigned_not_accepted',
      'answers to this review must be signed: `countersign sign` creates a signed answer and prints how to send it',
      violationId,
    );
  }
  const digest = digestOf(sent);
  if (digest === null) return refuse('malformed', 'the answer contains text that is not valid Unicode', violationId);
  return (
    refusedByScope(answer, actor, scope) ?? {
      code: 'accepted',
      violationId,
      fingerprint,
      decision,
      reason,
      person: actor,
      signed: false,
      digest,
      keyId: null,
      nonce: null,
      passkeyUse: null,
      issuedAt: at,
      retracts: retracts ?? null,
    }
  );
}

function refusedByScope(
  answer: { readonly violationId: string; readonly fingerprint: string },
  person: string,
  scope: AnswerScope,
): RefusedAnswer | null {
  const { violationId } = answer;
  if (scope.fingerprint === null)
    return refuse(
      'too_early',
      'nothing has been disclosed yet; wait for the violations, then answer with their fingerprint',
      violationId,
    );
  const violation = scope.violations.find((v) => v.violationId === violationId);
  if (violation === undefined) return refuse('unknown_violation', 'this review has no such violation', violationId);
  if (violation.need !== 'human')
    return refuse('needs_no_answer', 'this violation does not wait for a person', violationId);
  if (answer.fingerprint !== scope.fingerprint) {
    return refuse(
      'wrong_fingerprint',
      `given for fingerprint ${answer.fingerprint}, but the current one is ${scope.fingerprint}: read the review again before you answer`,
      violationId,
    );
  }
  if (!violation.members.includes(person))
    return refuse('not_eligible', `"${person}" is not in the group "${violation.group}"`, violationId);
  if (violation.fourEyes && person === scope.requester)
    return refuse('not_eligible', `"${person}" requested this change; four eyes require another person`, violationId);
  return null;
}

function refusedByTime(predicate: AnswerPredicate, at: string): RefusedAnswer | null {
  const { violationId, issuedAt, expiresAt } = predicate;
  const now = Date.parse(at);
  if (Date.parse(issuedAt) - CLOCK_SKEW_MS > now)
    return refuse('expired', `issued at ${issuedAt}, which is in the future; correct the signer's clock`, violationId);
  if (Date.parse(expiresAt) <= now) return refuse('expired', `expired at ${expiresAt}; sign a new answer`, violationId);
  return null;
}

function digestOf(sent: unknown): string | null {
  try {
    return messageDigest(sent);
  } catch {
    return null; // A lone surrogate: such text has no UTF-8 encoding, so it cannot be recorded.
  }
}

function refuse(code: RefusedAnswer['code'], message: string, violationId: string | null): RefusedAnswer {
  return { code, message, violationId };
}

/** What answers to a disclosed review are compared with. `fingerprint` and `violations` must be those of the same disclosure. */
export function answerScopeOf(review: {
  readonly changeId: string;
  readonly submission: Pick<Submission, 'tenant' | 'target'>;
  readonly plan: Pick<Plan, 'answers' | 'development' | 'groups'>;
  readonly fingerprint: string | null;
  readonly requester: string | null;
  readonly violations: readonly PolicyViolation[];
}): AnswerScope {
  const { changeId, submission, plan, fingerprint, requester, violations } = review;
  const { tenant, target } = submission;
  return {
    changeId,
    context: { tenant, target, environment: plan.development ? 'development' : 'production' },
    answersMode: plan.answers,
    development: plan.development,
    fingerprint,
    requester,
    violations: violations.map((v) => ({ ...v, members: plan.groups[v.group]?.members ?? [] })),
  };
}
