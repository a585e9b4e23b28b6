import type { AdmittedAnswer } from '../../policy/contracts/answer';
import type { ReviewStatus } from '../../policy/contracts/status';
import { NO_REFUSALS, withRefused } from '../../workflows/answer-lines';
import { currentDetails } from '../../workflows/details';

const id = (digit: string): string => digit.repeat(64);
const violation = { violationId: id('1'), validatorId: 'sql_affected_rows', resolution: 'rejected' };
const closed = {
  state: 'ROLLED_BACK',
  reason: 'declined',
  sourceTool: 'SQLDryRun',
  target: 'shop',
  violations: [violation],
  warnings: [],
} as unknown as ReviewStatus;
const answer: AdmittedAnswer = {
  violationId: id('1'),
  fingerprint: id('2'),
  decision: 'reject',
  person: 'bob',
  signed: true,
  reason: 'too many rows',
  issuedAt: '2026-03-01T12:00:00.000Z',
  retracts: null,
  admittedAt: '2026-03-01T12:00:01.000Z',
  digest: id('3'),
};
const none = { title: '', answers: [], refusals: NO_REFUSALS, note: null };

test('the details of a closed review name the change, the outcome, and who rejected what and why', () => {
  const details = currentDetails(closed, {
    ...none,
    title: 'UPDATE accounts: 30 rows',
    answers: [answer],
    note: 'bob rejected sql_affected_rows',
  });
  expect(details.split('\n')).toEqual([
    '**ROLLED_BACK** (declined) · SQLDryRun on shop',
    '',
    '`UPDATE accounts: 30 rows`',
    '',
    '`bob rejected sql_affected_rows`',
    '',
    'Answers:',
    '',
    '- `bob`: reject `sql_affected_rows`, `too many rows`, 2026-03-01T12:00:01.000Z',
  ]);
});

test('a reason cannot leave its code span, add a line or hide text', () => {
  const reason = '` ![x](https://evil.example)\n# **COMMITTED**\u202e';
  const details = currentDetails(closed, { ...none, answers: [{ ...answer, reason }] });
  expect(details).toContain("`' ![x](https://evil.example) # **COMMITTED**⟦U+202E⟧`");
});

test('refused answers are listed with why, the latest five of them, and never longer than the limit', () => {
  const claims = [{ violationId: id('1'), text: 'mallory: confirm sql_affected_rows' }];
  const results = { [id('1')]: { code: 'unknown_key', message: 'the key is not registered' } } as const;
  let refusals = NO_REFUSALS;
  for (let i = 0; i < 8; i++) refusals = withRefused(refusals, claims, results);
  refusals = withRefused(refusals, claims, { [id('1')]: { code: 'accepted', message: '' } });
  const numbered = withRefused(NO_REFUSALS, claims, {
    '#0': { code: 'malformed', message: '' },
    '#9': results[id('1')]!,
  });
  expect(numbered.latest.map(({ claim }) => claim)).toEqual([claims[0]?.text, 'an answer that cannot be read']);
  const details = currentDetails(closed, { ...none, refusals });
  expect(details).toContain('- 3 earlier ones');
  const line = '- `mallory: confirm sql_affected_rows`, `unknown_key: the key is not registered`';
  expect(details.split('\n').filter((each) => each === line)).toHaveLength(5);
  const many = Array.from({ length: 500 }, () => ({ ...answer, reason: '漢'.repeat(2000) }));
  const longest = currentDetails(closed, { ...none, answers: many, refusals });
  expect(longest).toContain('- 480 earlier ones');
  expect(longest.length).toBeLessThanOrEqual(15_000);
});
