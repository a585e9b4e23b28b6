import { claimsOf, claimSummary } from '../../workflows/claimed-answer';

const id = (digit: string): string => digit.repeat(64);
const names = {
  keyOwners: { key1: 'bob' },
  violations: [{ violationId: id('1'), validatorId: 'guardian.sql_affected_rows' }],
};
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
const signed = (predicate: unknown, keyid = 'key1') => ({
  payload: base64({ predicate }),
  signatures: [{ keyid, sig: '' }],
});
const summary = (...answers: unknown[]): string => claimSummary({ answers }, names);

test('names person, decision and violation of a signed and of an unsigned answer, as claims', () => {
  const said = { decision: 'reject', violationId: id('1'), reason: 'tä' };
  expect(summary(signed(said))).toBe('bob: reject guardian.sql_affected_rows, to be verified');
  expect(summary({ ...said, actor: 'eve' })).toBe('eve: reject guardian.sql_affected_rows, to be verified');
  expect(summary(signed(said), signed(said), {})).toMatch(/^bob: reject .* and 2 more, to be verified$/);
});

test('an unknown key and an unknown violation are shown by the start of their ids', () => {
  const said = { decision: 'confirm', violationId: id('7'), actor: 'alice' };
  expect(summary(signed(said, 'abcdefgh'))).toBe('key abcdefgh: confirm violation 77777777777…, to be verified');
  expect(summary(signed(said, '__proto__'))).toMatch(/^key /);
});

test.each([
  undefined,
  null,
  7,
  {},
  { answers: 7 },
  { answers: [] },
  { answers: [null] },
  { answers: [{ payload: 7 }] },
  { answers: [{ payload: '!!' }] },
  { answers: [{ payload: '/////w==' }] },
  { answers: [{ payload: base64('x'.repeat(100_000)) }] },
  { answers: [{ payload: Buffer.from('['.repeat(10_000)).toString('base64') }] },
  { answers: [{ decision: 'reject' }] },
  { undecodable: 'Error' },
])('a message that cannot be read gets a summary too: %j', (message) => {
  expect(claimSummary(message, names)).toMatch(/, to be verified$/);
  expect(claimsOf(message, names).every(({ violationId }) => violationId === null)).toBe(true);
});

test('a hostile name is on one line, escaped, and within the limit of the server', () => {
  const hostile = {
    decision: 'reject',
    violationId: '漢'.repeat(500),
    actor: `\n\u202e\u0000\ud800${'漢'.repeat(500)}`,
  };
  const text = summary(hostile, hostile);
  expect(Buffer.byteLength(text)).toBeLessThan(280);
  expect(text).toMatch(/ and 1 more, to be verified$/);
  for (const forbidden of ['\n', '\u202e', '\u0000', '\ud800']) expect(text).not.toContain(forbidden);
  expect(text).toContain('U+202E');
});
