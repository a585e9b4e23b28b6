import type { AnswerCode, AnswerResults } from '../../policy/contracts/answer';
import type { Ledger } from '../../policy/evidence/ledger-port';
import type { RefusedAnswer } from '../../signing/judge-answer';
import { parseAnswerMessage, violationIdOf } from './answer-message';
import { refusalEntry } from './answer-refusal';
import { byViolation, refusedResult, type Outcome } from './answer-results';

export interface LateDeps {
  readonly ledger: Ledger;
  readonly now: () => Date;
  /** Idempotency key of the request: a retry with the same key writes no second row. */
  readonly callId: () => string;
  /** Name of the process that refuses: gateway or client. */
  readonly actor: string;
}

/** Refuses an answer that can no longer reach its workflow, and records the attempt. */
export interface LateAnswers {
  /** Returns null and records nothing if the ledger has no such review: an invented id must not create rows. */
  recordLate(
    changeId: string,
    message: unknown,
    why: { readonly code: Exclude<AnswerCode, 'accepted' | 'duplicate'>; readonly message: string },
  ): Promise<AnswerResults | null>;
  /** Records answers that were refused, each for its own reason, before they reached the workflow of an existing review. */
  recordRefused(
    changeId: string,
    refusals: readonly { readonly sent: unknown; readonly refused: RefusedAnswer }[],
  ): Promise<AnswerResults>;
}

export function createLateAnswers({ ledger, now, callId, actor }: LateDeps): LateAnswers {
  const recordRefused: LateAnswers['recordRefused'] = async (changeId, refusals) => {
    const [at, call] = [now().toISOString(), callId()];
    const appended = await ledger.append(
      changeId,
      refusals.map(({ sent, refused }, i) =>
        refusalEntry({ sent, refused, via: 'late', at, actor, factKey: `refused:${call}:${i}` }),
      ),
    );
    return byViolation(
      refusals.map(({ refused }, i): Outcome => ({
        violationId: refused.violationId,
        result: refusedResult(refused, appended[i]),
      })),
    );
  };
  return {
    recordRefused,
    async recordLate(changeId, message, why) {
      if ((await ledger.review(changeId)) === null) return null;
      const refusals = parseAnswerMessage(message).map(({ sent, problem }) => ({
        sent,
        refused:
          problem === null
            ? { ...why, violationId: violationIdOf(sent) }
            : { code: 'malformed' as const, message: problem, violationId: null },
      }));
      return recordRefused(changeId, refusals);
    },
  };
}
