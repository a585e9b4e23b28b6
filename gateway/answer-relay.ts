import type { KeyOwners } from '../client/acknowledge';
import type { CountersignError } from '../client/errors';
import type { AnswerResults } from '../policy/contracts/answer';
import type { Envelope } from '../policy/contracts/diff';
import { assessAnswer } from '../signing/assess-answer';
import { AnswerLimits } from './answer-limits';
import type { GatewayDeps, RefusedBeforeRelay } from './deps';
import type { GatewayMetrics } from './metrics';

/** Relays signed answers, for keys that sign their requests and for sessions of the inbox: the same bounds and the same checks. */
export class AnswerRelay {
  readonly #limits: AnswerLimits;

  constructor(
    private readonly deps: GatewayDeps,
    private readonly metrics: GatewayMetrics,
  ) {
    this.#limits = deps.answerLimits ?? new AnswerLimits();
  }

  /** Throws `too_many_requests` if the key has sent too many messages, or too many that were refused. */
  take(keyId: string, messages: number): void {
    if (!this.#limits.take(keyId, messages, this.deps.now())) throw this.#tooMany();
  }

  /** Counts messages that were refused before they became messages of the workflow. Throws as `take`, and then they are not recorded. */
  refused(keyId: string, messages: number): void {
    for (let i = 0; i < messages; i++) this.metrics.refused('answer');
    if (messages > 0 && !this.#limits.refused(keyId, messages, this.deps.now())) throw this.#tooMany();
  }

  #tooMany(): CountersignError {
    return this.metrics.refusal(
      'answer_limit',
      'too_many_requests',
      'Too many answers, or too many invalid ones, in five minutes',
    );
  }

  /** W3. Relays the answers that would count, and records the others as refused. `keyId`: the key that sends them. */
  async send(changeId: string, keyId: string, answers: readonly Envelope[]): Promise<AnswerResults> {
    this.take(keyId, answers.length);
    const { valid, owners, refused } = await this.#check(changeId, answers);
    this.refused(keyId, refused.length);
    const results: AnswerResults = refused.length === 0 ? {} : await this.deps.answers.recordRefused(changeId, refused);
    // Relayed last: the results of valid answers replace those of refused ones that name the same violation.
    return valid.length === 0
      ? results
      : { ...results, ...(await this.deps.reviews.answer(changeId, valid, { owners })) };
  }

  /**
   * Verifies signature, key, group, fingerprint and time as the review does when it admits an answer, so that only answers that
   * would count become messages of the workflow. Admission and the committer check them again.
   */
  async #check(
    changeId: string,
    answers: readonly Envelope[],
  ): Promise<{
    readonly valid: Envelope[];
    readonly owners: KeyOwners;
    readonly refused: readonly RefusedBeforeRelay[];
  }> {
    const scope = await this.deps.answers.scopeOf(changeId);
    const owners = new Map<string, string>();
    if (scope === null) return { valid: [...answers], owners, refused: [] };
    const { find } = await this.deps.keys();
    const at = new Date(this.deps.now()).toISOString();
    const valid: Envelope[] = [];
    const refused: RefusedBeforeRelay[] = [];
    for (const sent of answers) {
      const assessed = assessAnswer(sent, scope, find, at);
      if (assessed.code === 'accepted') {
        valid.push(sent);
        if (assessed.keyId !== null) owners.set(assessed.keyId, assessed.person);
      } else refused.push({ sent, code: assessed.code, message: assessed.message, violationId: assessed.violationId });
    }
    return { valid, owners, refused };
  }
}
