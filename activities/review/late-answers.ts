import type { AnswerCode, AnswerResults } from '../../policy/contracts/answer';
import type { Ledger } from '../../policy/evidence/ledger-port';
import type { RefusedAnswer } from '../../signing/judge-answer';
import { parseAnswerMessage, violationIdOf } from './answer-message';
import { refusalEntry } from './answer-refusal';
import { byViolation, refusedResult, type Outcome } from './answer-results';

interface LateDeps {
  readonly ledger: Ledger;
  readonly now: () => Date;
}

/** Refuses an answer that can no longer reach its workflow, and records the attempt. */
interface LateAnswers {
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

export function createLateAnswers({ ledger, now }: LateDeps): LateAnswers {
  const recordRefused: LateAnswers['recordRefused'] = async (changeId, refusals) => {
    const at = now().toISOString();
    const appended = await ledger.append(
      changeId,
      refusals.map(({ sent, refused }) => refusalEntry({ sent, refused, via: 'late', at })),
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
