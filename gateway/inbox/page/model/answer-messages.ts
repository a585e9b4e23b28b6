import type { Envelope } from '../../../../policy/contracts/diff';

/** Below the bound of a review's messages, which is 256 Ki characters of JSON. */
const MAX_LENGTH = 240 * 1024;

/**
 * The envelopes of one passkey signature, in order, in as few messages as possible. Each envelope lists all statements that were signed
 * together, so 50 of them do not always fit in one message.
 */
export function answerMessages(envelopes: readonly Envelope[]): readonly (readonly Envelope[])[] {
  const messages: Envelope[][] = [];
  let length = MAX_LENGTH;
  for (const envelope of envelopes) {
    const own = JSON.stringify(envelope).length + 1;
    length += own;
    if (length > MAX_LENGTH) {
      messages.push([]);
      length = own;
    }
    messages.at(-1)?.push(envelope);
  }
  return messages;
}
