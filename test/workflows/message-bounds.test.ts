import { MAX_MESSAGE_LENGTH, MAX_PER_REVIEW, MAX_PER_SENDER, MessageBounds } from '../../workflows/message-bounds';

const HOUR_MS = 60 * 60_000;
const envelope = (keyid: string) => ({ answers: [{ payload: 'e30=', signatures: [{ keyid, sig: '' }] }] });
let now = 1_000_000_000_000;
const bounds = (): MessageBounds => new MessageBounds(() => now);
const fill = (filled: MessageBounds, kind: 'answer' | 'stop' | 'submit', count: number, sender?: string): void => {
  for (let i = 0; i < count; i++) filled.count(kind, envelope(sender ?? `key ${i}`));
};

test('a message that is too long or cannot be written as JSON is refused from every sender', () => {
  const fresh = bounds();
  expect(fresh.refusal('answer', 'x'.repeat(MAX_MESSAGE_LENGTH - 2))).toBeNull();
  expect(fresh.refusal('answer', 'x'.repeat(MAX_MESSAGE_LENGTH))).toMatch(/longer/);
  const nested = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown;
  expect(fresh.refusal('answer', nested)).toMatch(/longer/);
});

test('fifty answers with the longest reasons are within the bound', () => {
  // A signed answer has at most 2,000 characters of reason, which can need three bytes each, and base64 adds a third.
  const payload = 'A'.repeat(Math.ceil(((2_000 + 1_000) * 4) / 3));
  const answers = Array.from({ length: 50 }, () => ({
    payload,
    payloadType: 'x',
    signatures: [{ keyid: 'k', sig: 's' }],
  }));
  expect(bounds().refusal('answer', { answers })).toBeNull();
});

test('a sender past its bound is refused, and other senders are not', () => {
  const used = bounds();
  fill(used, 'answer', MAX_PER_SENDER, 'mallory');
  expect(used.refusal('answer', envelope('mallory'))).toMatch(/sender/);
  expect(used.refusal('answer', envelope('alice'))).toBeNull();
});

test('a review past its bound refuses every sender, and messages of other kinds are not affected', () => {
  const used = bounds();
  fill(used, 'answer', MAX_PER_REVIEW.answer);
  expect(used.refusal('answer', envelope('alice'))).toMatch(/this kind/);
  expect(used.refusal('stop', { actor: 'alice' })).toBeNull();
  expect(used.refusal('submit', undefined)).toBeNull();
});

test('a message that had an effect gives its place back, so honest answers have no bound', () => {
  const used = bounds();
  for (let i = 0; i < 2 * MAX_PER_REVIEW.answer; i++) {
    expect(used.refusal('answer', envelope('alice'))).toBeNull();
    used.count('answer', envelope('alice'));
    used.giveBack('answer', envelope('alice'));
  }
});

test('after an hour the counts start again, so junk cannot shut approvers out for good', () => {
  const used = bounds();
  fill(used, 'answer', MAX_PER_REVIEW.answer, 'mallory');
  now += HOUR_MS;
  expect(used.refusal('answer', envelope('mallory'))).toBeNull();
  used.count('answer', envelope('mallory'));
  expect(used.counts().byKind.answer).toBe(1);
});

test('the counts go with the review into its next run', () => {
  const used = bounds();
  fill(used, 'answer', MAX_PER_SENDER, 'mallory');
  const next = new MessageBounds(
    () => now,
    JSON.parse(JSON.stringify(used.counts())) as ReturnType<typeof used.counts>,
  );
  expect(next.refusal('answer', envelope('mallory'))).toMatch(/sender/);
});
