/**
 * Whether one answer counts: used at admission, by the committer over the ledger's rows, and offline.
 *
 * A1 The person comes from the key's registry entry, never from what the answer or a ledger row says.
 * A2 Nothing in a signed answer is believed before its signature is verified; the violation id of a refused one only names the refusal.
 * A3 Every member that an answer binds is compared here: change, fingerprint, violation, context, signer, time. The nonce needs the ledger.
 */
import type { AnswerCode, AnswerPredicate, Decision } from '../policy/contracts/answer';
import { UnsignedAnswer } from '../policy/contracts/answer';
import { Envelope } from '../policy/contracts/diff';
import { messageDigest, openEnvelope } from '../policy/evidence/dsse';
import type { KeyLookup } from '../policy/evidence/key-registry';
import { verifyWithRegistry } from './registry-verify';

/** An answer's clock may run ahead of ours by this much. */
export const CLOCK_SKEW_MS = 60_000;
/** An answer is small; a larger payload is none. */
export const MAX_ANSWER_PAYLOAD = 32 * 1024;

/** A violation as far as answers to it are concerned. */
export interface AnswerableViolation {
  readonly violationId: string;
  readonly need: 'human' | 'callback' | 'hard';
  readonly group: string;
  readonly members: readonly string[];
  readonly fourEyes: boolean;
}

/** What an answer is compared with. None of it comes from the answer. */
export interface AnswerScope {
  readonly changeId: string;
  readonly context: AnswerPredicate['context'];
  readonly answersMode: 'signed' | 'unsigned';
  readonly development: boolean;
  /** Null while nothing is disclosed. */
  readonly fingerprint: string | null;
  /** Null when unknown: four eyes then ask for two people, which `decide` counts. */
  readonly requester: string | null;
  readonly violations: readonly AnswerableViolation[];
}

/** An answer that counts, before nonce and contradiction, which only the ledger can tell. */
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
}
export interface RefusedAnswer {
  readonly code: Exclude<AnswerCode, 'accepted' | 'duplicate'>;
  readonly message: string;
  /** As the answer says, unverified; null where none can be read. */
  readonly violationId: string | null;
}

/** `at` is the moment of admission, ISO-8601. Never throws. */
export function judgeAnswer(
  answer: unknown,
  scope: AnswerScope,
  keys: KeyLookup,
  at: string,
): CountedAnswer | RefusedAnswer {
  const envelope = Envelope.safeParse(answer);
  if (envelope.success) return judgeSigned(envelope.data, scope, keys, at);
  const plain = UnsignedAnswer.safeParse(answer);
  if (plain.success) return judgeUnsigned(answer, plain.data, scope);
  return refuse(
    'malformed',
    'expected a signed envelope, or {violationId, fingerprint, decision: "confirm" | "reject", reason, actor}',
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
  });
  if (!verified.ok) return refuse(keyRefusal(verified.code), verified.message, violationId);
  const { predicate, key } = verified;
  if (key.subject.type !== 'person')
    return refuse(
      'not_eligible',
      `key ${key.keyId} is of the ${key.subject.type} "${key.subject.id}"; only people answer`,
      violationId,
    );
  if (predicate.changeId !== scope.changeId)
    return refuse('wrong_context', `signed for the change ${predicate.changeId}`, violationId);
  const { tenant, target, environment } = predicate.context;
  if (tenant !== scope.context.tenant || target !== scope.context.target || environment !== scope.context.environment) {
    return refuse(
      'wrong_context',
      `signed for ${tenant} / ${target} / ${environment}, and this is ${scope.context.tenant} / ${scope.context.target} / ${scope.context.environment}`,
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
    }
  );
}

function judgeUnsigned(sent: unknown, answer: UnsignedAnswer, scope: AnswerScope): CountedAnswer | RefusedAnswer {
  const { violationId, fingerprint, decision, reason, actor } = answer;
  if (scope.answersMode !== 'unsigned' || !scope.development) {
    return refuse(
      'unsigned_not_accepted',
      'answers here must be signed: `countersign sign` makes one and prints how to send it',
      violationId,
    );
  }
  const digest = digestOf(sent);
  if (digest === null) return refuse('malformed', 'the answer holds text that is not valid Unicode', violationId);
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
      'nothing has been disclosed yet; wait for the violations, then answer with the fingerprint',
      violationId,
    );
  const violation = scope.violations.find((v) => v.violationId === violationId);
  if (violation === undefined) return refuse('unknown_violation', 'this review has no such violation', violationId);
  if (violation.need !== 'human')
    return refuse('needs_no_answer', 'this violation does not wait for a person', violationId);
  if (answer.fingerprint !== scope.fingerprint) {
    return refuse(
      'wrong_fingerprint',
      `given on ${answer.fingerprint}, and what is disclosed now is ${scope.fingerprint}: look at it again`,
      violationId,
    );
  }
  if (!violation.members.includes(person))
    return refuse('not_eligible', `"${person}" is not in the group "${violation.group}"`, violationId);
  if (violation.fourEyes && person === scope.requester)
    return refuse('not_eligible', `"${person}" asked for this change; four eyes need somebody else`, violationId);
  return null;
}

function refusedByTime(predicate: AnswerPredicate, at: string): RefusedAnswer | null {
  const { violationId, issuedAt, expiresAt } = predicate;
  const now = Date.parse(at);
  if (Date.parse(issuedAt) - CLOCK_SKEW_MS > now)
    return refuse('expired', `issued at ${issuedAt}, which is still to come; set the clock`, violationId);
  if (Date.parse(expiresAt) <= now)
    return refuse('expired', `it was good until ${expiresAt}; sign a new one`, violationId);
  return null;
}

function keyRefusal(code: Exclude<ReturnType<typeof verifyWithRegistry>, { ok: true }>['code']): RefusedAnswer['code'] {
  switch (code) {
    case 'unknown_key':
    case 'revoked_key':
    case 'demo_key':
      return code;
    case 'wrong_key_kind':
      return 'not_eligible';
    case 'wrong_key':
    case 'bad_signature':
      return 'bad_signature';
    case 'malformed':
    case 'not_utf8':
    case 'not_json':
    case 'not_canonical':
    case 'wrong_kind':
    case 'invalid_statement':
      return 'malformed';
    default:
      return code satisfies never;
  }
}

function digestOf(sent: unknown): string | null {
  try {
    return messageDigest(sent);
  } catch {
    return null; // A lone surrogate: such text has no bytes to be recorded by.
  }
}

function refuse(code: RefusedAnswer['code'], message: string, violationId: string | null): RefusedAnswer {
  return { code, message, violationId };
}
