import { z } from 'zod';
import type { WithdrawResult } from '../policy/contracts/withdrawal';
import { Name, type Submission } from '../policy/contracts/diff';
import { CountersignError, messageOf } from './errors';
import { parseInput } from './parse';
import type { ByteSink } from './ports';
import type { Bounded, ReviewCalls, Submitted } from './review-calls';
import { ReviewClient, type ReviewClientOptions } from './review-client';
import { signSupersession, signWithdrawal, type SupersedeInput, type WithdrawInput } from './sign-withdrawal';
import { SignerOption, type Signer } from './signer';
import { prepareSubmission, signSubmission, type PreparedSubmission, type SubmitInput } from './submission';

export interface CountersignOptions extends ReviewClientOptions {
  readonly tenant: string;
  /** Stores the diff bytes. If null, every submission is inline, which the target must allow. */
  readonly store: ByteSink | null;
  /**
   * Signs submissions and their withdrawal. The requester is then known and cannot answer. Without it, policies that require four eyes
   * need one more person, and only an approver can withdraw.
   */
  readonly serviceKey?: Signer | null;
}

const Options = z.object({ tenant: Name, serviceKey: SignerOption.nullish() });

/**
 * Client for agent backends and tools that have access to Temporal.
 *
 *     const countersign = new Countersign({ temporal: new Client(), tenant: 'acme', store, serviceKey, trust });
 *     const { changeId, preflight } = await countersign.submit({ target: 'shop', sourceTool: 'SQLDryRun', raw: sql });
 *     const result = await countersign.result(changeId, { timeoutMs: 60_000 });
 */
export class Countersign extends ReviewClient implements ReviewCalls {
  readonly tenant: string;
  readonly #store: ByteSink | null;
  readonly #serviceKey: Signer | null;

  constructor(options: CountersignOptions) {
    super(options);
    parseInput(Options, options, 'See CountersignOptions; createSigner makes a signer of a key');
    this.tenant = options.tenant;
    this.#store = options.store;
    this.#serviceKey = options.serviceKey ?? null;
  }

  /**
   * Stores the bytes, signs the submission, starts the review and waits for the static findings, at most `timeoutMs`
   * (default 10 s). Idempotent: submitting a change again joins its review, or returns its outcome. Throws `invalid_input` before
   * anything is sent.
   */
  async submit(input: SubmitInput, bounds: Bounded = {}): Promise<Submitted> {
    const prepared = this.prepare(input);
    if (prepared.submission.inline === undefined) await this.#put(prepared);
    return await this.start(this.#signed(prepared), bounds);
  }

  /** Validates and hashes a submission without sending it. Gives its `changeId`. */
  prepare(input: SubmitInput): PreparedSubmission {
    return prepareSubmission(this.#store === null ? { ...input, inline: true } : input, this.tenant);
  }

  /** Withdraws a change that this service key submitted. Throws `not_eligible` without a service key. */
  async withdraw(changeId: string, input: WithdrawInput = {}): Promise<WithdrawResult> {
    return await this.sendWithdrawal(changeId, signWithdrawal(changeId, input, this.#signer(), new Date()));
  }

  /** Replaces a change that this service key submitted by another one. Throws `not_eligible` without a service key. */
  async supersede(changeId: string, input: SupersedeInput): Promise<WithdrawResult> {
    return await this.sendSupersession(changeId, signSupersession(changeId, input, this.#signer(), new Date()));
  }

  #signer(): Signer {
    if (this.#serviceKey !== null) return this.#serviceKey;
    throw new CountersignError(
      'not_eligible',
      'Only a signed statement withdraws a change: set `serviceKey` in the options of the client to the key that submitted it. Nothing was sent',
    );
  }

  #signed(prepared: PreparedSubmission): Submission {
    return this.#serviceKey === null ? prepared.submission : signSubmission(prepared, this.#serviceKey, new Date());
  }

  async #put({ bytes, submission }: PreparedSubmission): Promise<void> {
    try {
      await this.#store?.put(submission.tenant, bytes);
    } catch (error) {
      throw new CountersignError(
        'store_unavailable',
        `The diff could not be stored, and nothing was submitted: ${messageOf(error)}`,
        { cause: error },
      );
    }
  }
}
