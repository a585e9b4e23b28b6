import type { AnswerMessage } from '../policy/contracts/answer';
import { openEnvelope } from '../policy/evidence/dsse';

/** The key of each answer in `AnswerResults`: its violation id, or `#0`, `#1` … by position if the id cannot be read. Does not verify anything. */
export function answerKeys(message: AnswerMessage): string[] {
  return message.answers.map((answer, i) => {
    if ('violationId' in answer) return answer.violationId;
    const opened = openEnvelope('answer', answer);
    return opened.ok ? opened.statement.predicate.violationId : `#${i}`;
  });
}
