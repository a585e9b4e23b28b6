import type { AnswerCode, AnswerResults } from '../../policy/contracts/answer';
import type { Ledger } from '../../policy/evidence/ledger-port';
import { itemsOf, violationIdOf } from './answer-message';
import { refusalEntry } from './answer-refusal';
import { byViolation, refusedResult, type Outcome } from './answer-results';

export interface LateDeps {
  readonly ledger: Ledger;
  readonly now: () => Date;
  /** Names this attempt, so that a retry of the same request writes one row. */
  readonly callId: () => string;
  /** The process that refuses: gateway or client. */
  readonly actor: string;
}

/** Refuses an answer that cannot reach its workflow any more, and records the attempt (T56). */
export interface LateAnswers {
  /** Null, and nothing recorded, where the ledger knows no such review: an invented id must not make rows. */
  recordLate(
    changeId: string,
    message: unknown,
    why: { readonly code: Exclude<AnswerCode, 'accepted' | 'duplicate'>; readonly message: string },
  ): Promise<AnswerResults | null>;
}

export function createLateAnswers({ ledger, now, callId, actor }: LateDeps): LateAnswers {
  return {
    async recordLate(changeId, message, why) {
      if ((await ledger.review(changeId)) === null) return null;
      const [at, call] = [now().toISOString(), callId()];
      const refusals = itemsOf(message).map(({ sent, problem }) => {
        return {
          sent,
          refused:
            problem === null
              ? { ...why, violationId: violationIdOf(sent) }
              : { code: 'malformed' as const, message: problem, violationId: null },
        };
      });
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
    },
  };
}
