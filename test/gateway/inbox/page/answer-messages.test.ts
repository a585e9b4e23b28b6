import { answerMessages } from '../../../../gateway/inbox/page/model/answer-messages';
import { statementOf } from '../../../../policy/evidence/statement';
import { MessageBounds } from '../../../../workflows/message-bounds';
import { SAMPLES } from '../../../policy/evidence/samples';
import { testPasskey } from '../../../support/passkey';

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
