import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { AnswerResults, type AnswerMessage } from '../policy/contracts/answer';
import { Name, Sha256Hex } from '../policy/contracts/diff';
import type { ReviewStatus } from '../policy/contracts/status';
import { KeyRegistration, MAX_EVIDENCE_BYTES, parseEvidence, type EvidenceBundle } from '../policy/evidence/bundle';
import type { RegisteredKey } from '../policy/evidence/key-registry';
import { ReviewPage } from '../policy/evidence/ledger-port';
import type { VerifiedReview } from '../signing/verified-review';
import { acknowledge, type KeyOwners } from './acknowledge';
import { acknowledgeWithdrawal } from './acknowledge-withdrawal';
import { answerMessages } from './answer-messages';
import type { WatchedRows } from './read-back';
import { hasRoots, readResult, readReview } from './read-review';
import { SpendResult } from '../policy/contracts/spent';
import { WithdrawResult } from '../policy/contracts/withdrawal';
import { CountersignError } from './errors';
import { CALL_TIMEOUT_MS, GatewayHttp, json } from './gateway-http';
import { parseChangeId, parseInput, parseTimeout } from './parse';
import type { BundleOptions, ListFilter } from './ports';
import { TrustOption, type ReceiptTrust } from './receipt';
import type { ReviewResult } from './result';
import { SUBMIT_TIMEOUT_MS, type Bounded, type ReviewCalls, Submitted, type Waiting } from './review-calls';
import { signWithdrawal, type WithdrawInput } from './sign-withdrawal';
import { SignerOption, type Signer } from './signer';
import { prepareSubmission, signSubmission, type PreparedSubmission, type SubmitInput } from './submission';
import { registeredKey } from '../signing/verify-review/registry-entries';
import { CheckFailed } from '../signing/verify-review/checking';

export interface GatewayClientOptions {
  /** URL of the gateway, e.g. `https://countersign.example`. A path in it is a prefix that a proxy removes. */
  readonly baseUrl: string;
  /** A tenant in which the service key may act; `default` with `countersign dev`. */
  readonly tenant: string;
  /** Signs requests and submissions. */
  readonly serviceKey: Signer;
  /**
   * Public keys of trusted operators and committers. The gateway itself is not trusted: without them no review can be read, and
   * every outcome is `unverified`.
   */
  readonly trust?: ReceiptTrust | null;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
}

/** The gateway itself waits up to 45 s for a review, which a dead worker can delay, and then reads the rows. */
const ANSWER_TIMEOUT_MS = 60_000;
/** Interval of reading a review again until an answer has its row, and pause between two long polls. */
const READ_AGAIN_MS = 500;
/** Duration of one long poll. `result` repeats it until its time-out. */
const POLL_MS = 30_000;

/** The calls of `Countersign` over HTTP. Needs only a service key, no access to Temporal or the database. */
export class GatewayClient implements ReviewCalls {
  readonly tenant: string;
  readonly trust: ReceiptTrust | null;
  readonly #http: GatewayHttp;
  readonly #signer: Signer;

  /** Throws `invalid_input`. */
  constructor(options: GatewayClientOptions) {
    parseInput(Options, options, 'See GatewayClientOptions; createSigner makes a signer of a key');
    this.#http = new GatewayHttp(options);
    this.tenant = options.tenant;
    this.trust = options.trust ?? null;
    this.#signer = options.serviceKey;
  }

  prepare(input: SubmitInput): PreparedSubmission {
    return prepareSubmission(input, this.tenant);
  }

  /** Uploads the bytes, then submits. Idempotent. Throws `invalid_input` before anything is sent. */
  async submit(input: SubmitInput, { timeoutMs = SUBMIT_TIMEOUT_MS }: Bounded = {}): Promise<Submitted> {
    // The gateway has a shorter time-out for the preflight, after which it answers `pending`.
    const wait = parseTimeout(timeoutMs) + CALL_TIMEOUT_MS;
    const prepared = this.prepare(input);
    if (prepared.submission.inline === undefined) {
      const path = `/v1/diffs/${prepared.submission.diffSha}?tenant=${encodeURIComponent(this.tenant)}`;
      await this.#http.call('PUT', path, prepared.bytes, z.object({ diffSha: Sha256Hex }));
    }
    const submission = signSubmission(prepared, this.#signer, new Date());
    const submitted = await this.#http.call('POST', '/v1/reviews', json(submission), Submitted, { timeoutMs: wait });
    const { changeId } = prepared;
    const { preflight } = submitted;
    const answered = [submitted.changeId, preflight === 'pending' ? changeId : preflight.changeId];
    const other = answered.find((id) => id !== changeId);
    if (other !== undefined)
      throw new CountersignError(
        'not_verified',
        `The gateway answered for ${other} instead of ${changeId}. The change may have been submitted; retrying is safe`,
      );
    if (submitted.outcome === null) return submitted;
    const result = await this.result(changeId);
    return { ...submitted, outcome: 'outcome' in result ? result.outcome : null };
  }

  /** The review, rebuilt from the rows, bytes and policy that the gateway serves. Throws `not_verified` on any difference. */
  async review(changeId: string): Promise<VerifiedReview> {
    return readReview(changeId, await this.#bundle(parseChangeId(changeId)), this.trust);
  }

  /** Everything that `review` is rebuilt from, verified. Throws as `review` does. */
  async bundle(changeId: string, { inclusion = false }: BundleOptions = {}): Promise<EvidenceBundle> {
    const bundle = await this.#bundle(parseChangeId(changeId), inclusion ? '?inclusion=true' : '');
    readReview(changeId, bundle, this.trust);
    return bundle;
  }

  /** What the registry grants to the key of this client, signed by a trusted operator. Throws `not_verified`. */
  async key(): Promise<RegisteredKey> {
    const registration = await this.#http.call('GET', '/v1/key', null, KeyRegistration);
    return readRegistration(this.#signer.keyId, registration, this.trust);
  }

  /** The status of `review`. */
  async status(changeId: string): Promise<ReviewStatus> {
    return (await this.review(changeId)).status;
  }

  async #bundle(changeId: string, query = ''): Promise<EvidenceBundle> {
    const path = `/v1/reviews/${changeId}${query}`;
    const text = await this.#http.send('GET', path, null, {
      timeoutMs: CALL_TIMEOUT_MS * 3,
      maxBytes: MAX_EVIDENCE_BYTES,
    });
    const parsed = parseEvidence(text);
    if (parsed.ok) return parsed.bundle;
    throw new CountersignError(
      'not_verified',
      `The response of ${this.#http.origin} is not a review: ${parsed.problem}`,
    );
  }

  /**
   * Waits for the outcome, at most `timeoutMs` (0: returns the current state) or until `signal` ends the wait; the result is then
   * `PENDING`. The gateway only says when to look: outcome and receipt are verified here. Throws at once if the gateway does not answer:
   * call it again.
   */
  async result(changeId: string, { timeoutMs = 0, signal }: Waiting = {}): Promise<ReviewResult> {
    const until = performance.now() + parseTimeout(timeoutMs);
    const left = (): number => (signal?.aborted === true ? 0 : Math.max(0, until - performance.now()));
    for (;;) {
      const body = await this.#poll(parseChangeId(changeId), Math.ceil(Math.min(POLL_MS, left())), signal);
      if (body.state === 'ABORTED') return { ...body, verified: false };
      if (body.state !== 'PENDING') {
        const ended = readResult(changeId, await this.#bundle(changeId), this.trust);
        const why = 'The gateway says that the review has ended, but its rows have no receipt';
        return ended ?? { state: 'ABORTED', verified: false, why };
      }
      if (left() === 0) return { state: 'PENDING', status: await this.#statusIfAny(changeId) };
      // A gateway, or a proxy in front of it, can answer without waiting.
      await sleep(Math.min(left(), READ_AGAIN_MS));
    }
  }

  async #poll(changeId: string, waitMs: number, signal: AbortSignal | undefined): Promise<z.infer<typeof ResultBody>> {
    const path = `/v1/reviews/${changeId}/result?waitMs=${waitMs}`;
    const timeoutMs = waitMs + CALL_TIMEOUT_MS;
    // With a signal that was aborted before the call, the caller still gets the current state.
    if (waitMs === 0 || signal === undefined)
      return await this.#http.call('GET', path, null, ResultBody, { timeoutMs });
    try {
      return await this.#http.call('GET', path, null, ResultBody, { timeoutMs, abort: signal });
    } catch (error) {
      if (signal.aborted) return { state: 'PENDING' };
      throw error;
    }
  }

  /** Null before the review is opened, or without trusted keys. */
  async #statusIfAny(changeId: string): Promise<ReviewStatus | null> {
    if (!hasRoots(this.trust)) return null;
    try {
      return await this.status(changeId);
    } catch (error) {
      if (error instanceof CountersignError && error.code === 'worker_unavailable') return null;
      throw error;
    }
  }

  /** Reviews as the gateway's index lists them, not verified. `result` verifies the outcome of one. */
  async list(filter: Omit<ListFilter, 'tenant'> = {}): Promise<ReviewPage> {
    const query = new URLSearchParams({ tenant: this.tenant });
    for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, String(value));
    const page = await this.#http.call('GET', `/v1/reviews?${query.toString()}`, null, ReviewPage);
    const other = page.reviews.find(
      ({ tenant, changeId }) => tenant !== query.get('tenant') || !changeId.startsWith(filter.idPrefix ?? ''),
    );
    if (other === undefined) return page;
    throw new CountersignError('not_verified', `The gateway lists ${other.changeId}, which was not asked for`);
  }

  /**
   * Sends signed answers, in several messages if they do not fit in one. Results are keyed by violation id, and come from the ledger
   * rows of the answers; without a row `sent`. Until a signed checkpoint covers the rows, only the gateway vouches for them.
   */
  async answer(changeId: string, answers: AnswerMessage['answers']): Promise<AnswerResults> {
    const id = parseChangeId(changeId);
    const path = `/v1/reviews/${id}/answers`;
    const results: AnswerResults = {};
    for (const message of answerMessages(answers)) {
      const body = json({ answers: message });
      const said = await this.#http.call('POST', path, body, AnswerResults, { timeoutMs: ANSWER_TIMEOUT_MS });
      const owners = await this.#owners(said);
      Object.assign(results, await acknowledge(id, message, said, this.#watched(id), owners));
    }
    return results;
  }

  /** The owner of this client's key, which only the row of a duplicate is compared with: it can be that of another key of the person. */
  async #owners(said: AnswerResults): Promise<KeyOwners> {
    if (this.trust === null || !Object.values(said).some(({ code }) => code === 'duplicate')) return new Map();
    const { keyId, subject } = await this.key();
    return new Map(subject.type === 'person' ? [[keyId, subject.id]] : []);
  }

  #watched(id: string): WatchedRows {
    return {
      rows: async () => (await this.#bundle(id)).rows,
      watch: async () => ({ next: (ms) => sleep(Math.min(ms, READ_AGAIN_MS)), close: () => {} }),
    };
  }

  async spend(changeId: string, nonce: string): Promise<SpendResult> {
    const path = `/v1/reviews/${parseChangeId(changeId)}/spent`;
    return await this.#http.call('POST', path, json({ nonce }), SpendResult);
  }

  /**
   * Withdraws a change that this key submitted, or, with an approver's key, one that its owner may answer. The result comes from the
   * ledger row; without a row it is `sent`.
   */
  async withdraw(changeId: string, input: WithdrawInput = {}): Promise<WithdrawResult> {
    const id = parseChangeId(changeId);
    const message = signWithdrawal(id, input, this.#signer, new Date());
    const path = `/v1/reviews/${id}/withdraw`;
    const said = await this.#http.call('POST', path, json(message), WithdrawResult, { timeoutMs: ANSWER_TIMEOUT_MS });
    return await acknowledgeWithdrawal(id, message, said, this.#watched(id));
  }
}

const Options = z.strictObject({
  baseUrl: z.string(),
  tenant: Name,
  serviceKey: SignerOption,
  trust: TrustOption,
  fetch: z.custom((value) => value === undefined || typeof value === 'function', 'expected a function').optional(),
});

/** Of the result only the state is read. */
const ResultBody = z.discriminatedUnion('state', [
  z.object({ state: z.literal('PENDING') }),
  z.object({ state: z.enum(['COMMITTED', 'ROLLED_BACK', 'COMPENSATED']) }),
  z.object({ state: z.literal('ABORTED'), why: z.string() }),
]);

/** The registry entry of the key `keyId`. Throws `not_verified` if no trusted operator signed it, or if it is of another key. */
function readRegistration(keyId: string, registration: KeyRegistration, trust: ReceiptTrust | null): RegisteredKey {
  const refuse = (why: string): CountersignError =>
    new CountersignError('not_verified', `The registry entry of key ${keyId} does not verify: ${why}`);
  try {
    const key = registeredKey(registration, trust?.operators ?? [], new Date().toISOString());
    if (key.keyId !== keyId) throw refuse(`it is of key ${key.keyId}`);
    return key;
  } catch (error) {
    if (error instanceof CheckFailed) throw refuse(error.message);
    throw error;
  }
}
