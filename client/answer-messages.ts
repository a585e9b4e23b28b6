import { MAX_ANSWERS_PER_MESSAGE } from '../policy/contracts/answer';

/** Below the bound of a review's messages, which is 256 Ki characters of JSON. */
const MAX_LENGTH = 240 * 1024;

/**
 * Answers, in order, in as few messages as a review and a gateway accept. 50 answers do not always fit in one message: each envelope of
 * a passkey lists all statements that were signed together. No answers make one message without any, which is refused.
 */
export function answerMessages<T>(answers: readonly T[]): T[][] {
  let message: T[] = [];
  const messages = [message];
  let length = 0;
  for (const answer of answers) {
    // `undefined` has JSON only in an array.
    const own = JSON.stringify([answer]).length;
    const full = message.length === MAX_ANSWERS_PER_MESSAGE || length + own > MAX_LENGTH;
    if (full && message.length > 0) {
      message = [];
      messages.push(message);
      length = 0;
    }
    message.push(answer);
    length += own;
  }
  return messages;
}
