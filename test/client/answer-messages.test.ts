import { answerMessages } from '../../client/answer-messages';
import { statementOf } from '../../policy/evidence/statement';
import { MessageBounds } from '../../workflows/message-bounds';
import { SAMPLES } from '../policy/evidence/samples';
import { testPasskey } from '../support/passkey';

const dana = testPasskey('dana');
const touch = (count: number, reason: string) =>
  dana.sign(
    Array.from({ length: count }, (_, i) =>
      statementOf('answer', {
        ...SAMPLES.answer,
        keyId: dana.keyId,
        violationId: i.toString(16).padStart(64, '0'),
        reason,
      }),
    ),
  );
const refused = (answers: readonly unknown[]) => new MessageBounds(() => 0).refusal('answer', { answers });

it.each([
  ['1 answer', 1, '', 1],
  ['25 answers', 25, 'seen', 1],
  ['50 answers with reasons', 50, 'x'.repeat(300), 2],
  ['50 answers with the longest reasons', 50, '\u4e2d'.repeat(2000), 3],
])('sends %s of one touch in messages that a review takes', (_what, count, reason, messages) => {
  const envelopes = touch(count, reason);
  const sent = answerMessages(envelopes);
  expect(sent.flat()).toEqual(envelopes);
  expect(sent).toHaveLength(messages);
  for (const message of sent) expect(refused(message)).toBeNull();
});

it('would exceed the bound of a review in one message', () => {
  expect(refused(touch(50, 'x'.repeat(300)))).toContain('longer');
});

it('puts at most fifty answers into a message', () => {
  const answers = Array.from({ length: 120 }, (_, i) => i);
  const messages = answerMessages(answers);
  expect(messages.map((message) => message.length)).toEqual([50, 50, 20]);
  expect(messages.flat()).toEqual(answers);
});

it('makes messages of large envelopes that a review takes', () => {
  const envelopes = Array.from({ length: 50 }, (_, i) => ({ payload: String(i).padEnd(9 * 1024, 'A') }));
  expect(refused(envelopes)).toContain('longer');
  const messages = answerMessages(envelopes);
  expect(messages).toHaveLength(2);
  expect(messages.flat()).toEqual(envelopes);
  for (const message of messages) expect(refused(message)).toBeNull();
});

it('makes one message of no answers, and one of an answer that no message has room for', () => {
  expect(answerMessages([])).toEqual([[]]);
  const large = 'A'.repeat(300 * 1024);
  expect(answerMessages(['a', large, 'b'])).toEqual([['a'], [large], ['b']]);
});
