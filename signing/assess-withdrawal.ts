/**
 * Decides whether a withdrawal, or a change that claims to replace this one, ends a review. Used at admission, by the committer on
 * the ledger rows, and offline.
 *
 * J1 A review ends only on a signature over this change: a statement of the service key that submitted it, or of an approver of its
 *    plan (any member of its groups). An unsigned submission has no such service key.
 * J2 A change is replaced only by one of the same requester, tenant, target and source tool. Unknown requesters are never the same.
 * J3 The submission of the replacing change is evidence enough if it is signed and names this change in `supersedes`: that signature
 *    covers the member. A second one is then not needed.
 * J4 The person comes from the registry entry of the key. `actor` is what the signer calls itself.
 */
import { changeId as changeIdOf } from '../policy/contracts/change-id';
import type { Envelope, Submission } from '../policy/contracts/diff';
import type { LedgerRow } from '../policy/contracts/ledger';
import type { Plan } from '../policy/contracts/plan';
import { SupersedeMessage, WithdrawMessage, type Stopped, type WithdrawCode } from '../policy/contracts/withdrawal';
import { messageDigest, openEnvelope } from '../policy/evidence/dsse';
import type { KeyLookup, RegisteredKey } from '../policy/evidence/key-registry';
import { CLOCK_SKEW_MS, MAX_ANSWER_PAYLOAD } from './assess-answer';
import type { PasskeyUse } from './passkey';
import { refusalCode, verifyWithRegistry } from './registry-verify';
import { verifySubmission } from './verify-submission';

export interface WithdrawalScope {
  readonly changeId: string;
  readonly submission: Submission;
  /** Null if the pinned plan is no longer usable: then only the service key can withdraw, and no demo key. */
  readonly plan: Pick<Plan, 'groups' | 'development'> | null;
  /** The submission of the change that replaces this one, as that change was opened; null for a withdrawal. */
  readonly other: Submission | null;
}

export interface CountedWithdrawal extends Stopped {
  readonly code: 'accepted';
  /** The change that replaces this one; null for a withdrawal. */
  readonly by: string | null;
  /** Null if the signed submission of the replacing change is the evidence. */
  readonly statement: Envelope | null;
  readonly keyId: string;
  /** Owner of the key, from the registry. */
  readonly person: string;
  readonly digest: string;
  readonly nonce: string | null;
  /** Null unless a passkey signed. */
  readonly passkeyUse: PasskeyUse | null;
}
export interface RefusedWithdrawal {
  readonly code: Exclude<WithdrawCode, 'accepted' | 'duplicate' | 'sent' | 'too_late' | 'not_open'>;
  readonly message: string;
}
type Refused = RefusedWithdrawal;

/** The change that the message names as the one that replaces this one; null if it names none, or is not valid. Not verified. */
export function replacingChange(kind: 'withdraw' | 'supersede', message: unknown): string | null {
  const parsed = kind === 'supersede' ? SupersedeMessage.safeParse(message) : null;
  if (parsed?.success !== true) return null;
  if ('by' in parsed.data) return parsed.data.by;
  const opened = openEnvelope('supersede', parsed.data.statement);
  return opened.ok ? opened.statement.predicate.by : null;
}

/** `at` is the time of admission, ISO 8601. Never throws. */
export function assessWithdrawal(
  kind: 'withdraw' | 'supersede',
  message: unknown,
  scope: WithdrawalScope,
  keys: KeyLookup,
  at: string,
): CountedWithdrawal | Refused {
  if (kind === 'withdraw') {
    const parsed = WithdrawMessage.safeParse(message);
    if (!parsed.success) return refuse('malformed', 'withdraw: expected {"statement": a signed envelope}');
    return judgeStatement('withdraw', parsed.data.statement, scope, keys, at);
  }
  const parsed = SupersedeMessage.safeParse(message);
  if (!parsed.success)
    return refuse('malformed', 'supersede: expected {"statement": a signed envelope} or {"by": a change id}');
  if ('statement' in parsed.data) return judgeStatement('supersede', parsed.data.statement, scope, keys, at);
  return judgeReplacement(parsed.data.by, scope, keys);
}

function judgeStatement(
  kind: 'withdraw' | 'supersede',
  statement: Envelope,
  scope: WithdrawalScope,
  keys: KeyLookup,
  at: string,
): CountedWithdrawal | Refused {
  if (statement.payload.length > MAX_ANSWER_PAYLOAD)
    return refuse('malformed', `expected a payload of at most ${MAX_ANSWER_PAYLOAD} characters`);
  const opened = openEnvelope(kind, statement);
  if (!opened.ok) return refuse('malformed', `not a signed ${kind} statement: ${opened.message}`);
  const development = scope.plan?.development ?? false;
  const keyKind = keys(opened.keyid)?.kind === 'service' ? 'service' : 'approver';
  const right = keyKind === 'service' ? 'submit' : 'answer';
  const use = { right, tenant: scope.submission.tenant } as const;
  const verified = verifyWithRegistry(statement, kind, { keys, keyKind, development, use });
  if (!verified.ok) return refuse(refusalCode(verified.code), verified.message);
  const { predicate, key, passkeyUse } = verified;
  if (predicate.changeId !== scope.changeId)
    return refuse('wrong_context', `signed for another change, ${predicate.changeId}`);
  const unentitled = refusedSigner(key, scope, keys);
  if (unentitled !== null) return unentitled;
  if (Date.parse(predicate.issuedAt) - CLOCK_SKEW_MS > Date.parse(at))
    return refuse(
      'not_yet_valid',
      `issued at ${predicate.issuedAt}, which is in the future; correct the signer's clock`,
    );
  const by = 'by' in predicate ? predicate.by : null;
  const unrelated = by === null ? null : refusedReplacement(by, scope, keys);
  if (unrelated !== null) return unrelated;
  const because = predicate.reason === '' ? '' : `: ${predicate.reason}`;
  return {
    code: 'accepted',
    ...(by === null
      ? { reason: 'withdrawn', explanation: `Withdrawn by ${ownerOf(key)}${because}` }
      : { reason: 'superseded', explanation: `Superseded by ${by}, signed by ${ownerOf(key)}${because}` }),
    by,
    statement,
    keyId: key.keyId,
    person: key.subject.id,
    digest: messageDigest(statement),
    nonce: predicate.nonce,
    passkeyUse,
  };
}

/** J3. */
function judgeReplacement(by: string, scope: WithdrawalScope, keys: KeyLookup): CountedWithdrawal | Refused {
  const { changeId, other } = scope;
  const unrelated = refusedReplacement(by, scope, keys);
  if (unrelated !== null) return unrelated;
  const submitter = other === null ? null : submitterOf(other, scope, keys);
  if (other === null || submitter === null || other.supersedes !== changeId)
    return refuse('not_eligible', `the signed submission of ${by} does not name this change in "supersedes"`);
  return {
    code: 'accepted',
    reason: 'superseded',
    explanation: `Superseded by ${by}, signed by ${ownerOf(submitter.key)}`,
    by,
    statement: null,
    keyId: submitter.key.keyId,
    person: submitter.key.subject.id,
    digest: messageDigest({ by }),
    nonce: null,
    passkeyUse: null,
  };
}

/** J1. */
function refusedSigner(key: RegisteredKey, scope: WithdrawalScope, keys: KeyLookup): Refused | null {
  if (key.kind === 'service')
    return submitterOf(scope.submission, scope, keys)?.key.keyId === key.keyId
      ? null
      : refuse('not_eligible', `key ${key.keyId} did not submit this change`);
  if (key.subject.type !== 'person')
    return refuse(
      'not_eligible',
      `key ${key.keyId} belongs to the ${key.subject.type} "${key.subject.id}", not to a person`,
    );
  const approver = Object.values(scope.plan?.groups ?? {}).some(({ members }) => members.includes(key.subject.id));
  return approver ? null : refuse('not_eligible', `"${key.subject.id}" is not an approver of this change`);
}

/** J2. */
function refusedReplacement(by: string, scope: WithdrawalScope, keys: KeyLookup): Refused | null {
  const { submission, other, changeId } = scope;
  if (by === changeId) return refuse('not_eligible', 'a change cannot supersede itself');
  if (other === null || changeIdOf(other) !== by) return refuse('not_eligible', `no change ${by} was opened`);
  for (const member of ['tenant', 'target', 'sourceTool'] as const)
    if (other[member] !== submission[member])
      return refuse('not_eligible', `${by} is for another ${member}, "${other[member]}"`);
  const [mine, theirs] = [submitterOf(submission, scope, keys), submitterOf(other, scope, keys)];
  const same =
    mine !== null &&
    theirs !== null &&
    (mine.key.keyId === theirs.key.keyId || (mine.requester !== null && mine.requester === theirs.requester));
  return same ? null : refuse('not_eligible', `${by} is not by the requester of this change`);
}

/** The key that signed a submission, and the person behind it. Null without a valid signature. */
function submitterOf(
  submission: Submission,
  { plan }: WithdrawalScope,
  keys: KeyLookup,
): { readonly key: RegisteredKey; readonly requester: string | null } | null {
  const verified = verifySubmission(submission, { keys, development: plan?.development ?? false });
  const key = verified.ok ? keys(verified.keyId) : undefined;
  return verified.ok && key !== undefined ? { key, requester: verified.requester } : null;
}

/** The row that ends the review, as text. Its contents are verified by the check `withdrawal`. */
export function stopRowOf(rows: readonly LedgerRow[]): (Stopped & { readonly row: LedgerRow }) | null {
  const row = rows.find(({ kind }) => kind === 'withdrawn' || kind === 'superseded');
  if (row === undefined) return null;
  const reason = row.kind === 'withdrawn' ? 'withdrawn' : 'superseded';
  return { row, reason, explanation: String(row.body['explanation'] ?? '') };
}

function ownerOf({ kind, subject, onBehalfOf }: RegisteredKey): string {
  if (kind === 'approver') return subject.id;
  return `${subject.type} ${subject.id}${onBehalfOf === null ? '' : `, for ${onBehalfOf}`}`;
}

function refuse(code: Refused['code'], message: string): Refused {
  return { code, message };
}
