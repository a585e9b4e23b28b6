/**
 * What the inbox page and the gateway send each other, all of it JSON under `/inbox/api`. Types and a name only, so that the page contains
 * no schema of the server.
 *
 * Nothing here has authority for the page: titles, states and counts of the list come from the ledger's projection and are shown as
 * such. Before a person is offered an answer, the page verifies the evidence bundle of the review itself (`verifiedReview`).
 *
 * Two routes have types from elsewhere. `GET /reviews/:id/bundle` answers `EvidenceBundle` with bytes and preview, as canonical JSON.
 * `POST /reviews/:id/answers` takes `{answers: Envelope[]}`, 1 to 50, and answers `AnswerResults`, as POST /v1/reviews/:id/answers does.
 */
import type { Envelope } from '../../policy/contracts/diff';
import type { OperatorKey } from '../../signing/operator-key';

/**
 * Header of a request that the page makes by itself, for example because a review changed. It does not keep the session in use, so that
 * an unattended page is logged out.
 */
export const AUTOMATIC_HEADER = 'countersign-automatic';

/**
 * Body of every response with a status of 400 or above. `code` is one of client/errors.ts; 401 has `unauthenticated`: log in again.
 * Every POST has the content type `application/json` and a JSON body (`{}` if it says nothing).
 */
export interface InboxError {
  readonly error: { readonly code: string; readonly field?: string; readonly message: string };
}

/** `GET /session`: who is logged in. 401 without a session. `POST /logout` ends it (204). */
export interface InboxSession {
  readonly person: string;
  readonly tenants: readonly string[];
  /** The registered passkey that signs the answers. */
  readonly keyId: string;
  /** Base64url. */
  readonly credentialId: string;
  readonly rpId: string;
  readonly expiresAt: string;
  /** Workflow links of the page: `<base>/<workflow id>`; null if no Temporal UI is configured. */
  readonly temporalUi: string | null;
}

/**
 * `POST /login/begin`. Used once, within two minutes. The challenge for the authenticator is `loginChallenge(challenge)`
 * (policy/evidence/passkey-challenge.ts), so that a gateway cannot send the challenge of an answer as that of a login.
 */
export interface LoginChallenge {
  /** Base64url, 32 bytes. */
  readonly challenge: string;
  readonly rpId: string;
}

/** `POST /login/finish`: a WebAuthn assertion of a discoverable credential. All members base64url. Answers `InboxSession`. */
export interface LoginAssertion {
  readonly credentialId: string;
  readonly authenticatorData: string;
  readonly clientDataJSON: string;
  readonly signature: string;
}

/** `POST /enroll/begin` {keyId: id of the one-time key of the link}. 404 if the link is unknown, spent or expired. */
export interface EnrollmentOffer {
  /** The operator's statement (person, tenants, relying party, expiry), which the statement of the new passkey names by its digest. */
  readonly offer: Envelope;
  /** Base64url, 32 bytes, used once, within two minutes. The authenticator signs it as it is. */
  readonly challenge: string;
}

/**
 * `POST /enroll/finish`: all members base64url except `envelope`, the statement of the new passkey, signed with the one-time key of the
 * link. Answers `{person}`; the person then logs in.
 */
export interface EnrollmentCompletion {
  readonly envelope: Envelope;
  readonly credentialId: string;
  readonly attestationObject: string;
  readonly clientDataJSON: string;
}

/** `GET /trust`, without a session: the public keys that this gateway trusts. The page shows their fingerprint and warns when it changes. */
export interface InboxTrust {
  readonly operators: readonly OperatorKey[];
  readonly committers: readonly string[];
}

export type ReviewTab = 'turn' | 'waiting' | 'all';

/** Query of `GET /reviews`. Absent members do not filter. */
export interface ReviewListQuery {
  readonly tab: ReviewTab;
  readonly tool?: string;
  readonly rule?: string;
  readonly agent?: string;
  readonly tenant?: string;
  /** Only reviews opened at least this many seconds ago. */
  readonly minAge?: string;
  /** State, or reason of a rollback. */
  readonly outcome?: string;
  /** Words of the title or a prefix of the id, at least 2 characters. */
  readonly search?: string;
  readonly cursor?: string;
}

export interface ReviewListItem {
  readonly changeId: string;
  readonly title: string;
  readonly tenant: string;
  readonly target: string;
  readonly sourceTool: string;
  readonly requester: string | null;
  readonly state: string;
  readonly reason: string | null;
  readonly openedAt: string;
  readonly deadlineAt: string | null;
  readonly highestSeverity: string | null;
  /** Violations that still wait for an answer. */
  readonly pending: number;
  /** Violations that wait for this person, with the rule of each; empty outside the tab `turn`. */
  readonly waitingForYou: readonly { readonly rule: string; readonly since: string }[];
}

/** `GET /reviews`. 50 a page, oldest deadline first in `turn`, newest first otherwise. */
export interface ReviewList {
  readonly items: readonly ReviewListItem[];
  readonly next: string | null;
  /** Of the whole tab, for this person, capped at 1000. */
  readonly turnCount: number;
}

/** `GET /reviews/:id/precedents?rule=…`: the last five answers to the same rule in its tenant, an array. */
export interface Precedent {
  readonly changeId: string;
  readonly title: string;
  readonly decision: 'confirm' | 'reject' | 'retract';
  readonly person: string;
  readonly at: string;
  readonly outcome: string | null;
}

/** `GET /numbers?days=30`. Groups, never single people. */
export interface TeamNumbers {
  readonly days: number;
  readonly reviews: number;
  readonly committed: number;
  readonly rolledBack: number;
  readonly expired: number;
  readonly refusals: number;
  readonly medianSecondsToAnswer: number | null;
  /** Share of confirmations given within five seconds after the review was shown to the person's group, 0 to 1. */
  readonly confirmedWithin5s: number | null;
  readonly byRule: readonly RuleNumbers[];
  readonly byGroup: readonly GroupNumbers[];
}

export interface RuleNumbers {
  readonly rule: string;
  readonly asked: number;
  readonly confirmed: number;
  readonly rejected: number;
  readonly expired: number;
  readonly medianSecondsToAnswer: number | null;
  /** The command that would change a rule which people always confirm (at least 10 of 10); null otherwise. */
  readonly tuneCommand: string | null;
}

export interface GroupNumbers {
  readonly group: string;
  readonly answers: number;
  readonly medianSecondsToAnswer: number | null;
  readonly confirmedWithin5s: number | null;
}

/** `POST /reviews/:id/differences`, at most 20: the page could not verify what the gateway sent. Recorded in the ledger as a refusal. */
export interface DifferenceReport {
  readonly differences: readonly { readonly name: string; readonly detail: string }[];
}

/**
 * Data of the server-sent events of `GET /events`. `changed` names a review in which rows were appended; the page reads it again.
 * `services` is sent first, and whenever one goes down or comes back. Every ten seconds at the latest an event is sent, so that a
 * page which receives nothing for 20 seconds knows that it is disconnected. `registry` is another text after a key, a revocation or a
 * revision of the policy was added, so that any review may look different; null while the database is down.
 */
export type InboxEvent =
  | { readonly type: 'changed'; readonly changeId: string }
  | {
      readonly type: 'services';
      readonly database: boolean;
      readonly temporal: boolean;
      readonly registry: string | null;
      readonly now: string;
    };
