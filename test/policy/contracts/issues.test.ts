import { Submission } from '../../../policy/contracts/diff';
import { fieldIssues, issuesText, type FieldIssue } from '../../../policy/contracts/issues';

const envelope = { payloadType: 'application/json', payload: 'QUJD', signatures: [{ keyid: 'k', sig: 'QUJD' }] };
const submission = { tenant: 'default', target: 'shop', sourceTool: 'SQLDryRun', diffSha: 'a'.repeat(64), envelope };

function issuesOf(value: unknown): readonly FieldIssue[] {
  const parsed = Submission.safeParse(value);
  return parsed.success ? [] : fieldIssues(parsed.error, value, 'submission');
}

test('an issue has the full path of the member, the expected value, and the type of the received value', () => {
  const broken = { ...submission, tenant: '', envelope: { ...envelope, signatures: [{ keyid: 7, sig: 'QUJD' }] } };
  expect(issuesOf(broken)).toEqual([
    { field: 'tenant', message: 'expected 1 to 63 of A-Z a-z 0-9 . _ -, got a string of 0 characters' },
    { field: 'envelope.signatures.0.keyid', message: 'expected string, got 7' },
  ]);
  expect(issuesOf(null)).toEqual([{ field: 'submission', message: 'expected object, got null' }]);
  expect(issuesOf({ ...submission, plan: {} })).toEqual([{ field: 'plan', message: 'unknown member' }]);
  expect(issuesText(issuesOf({ ...submission, diffSha: undefined, target: [1] }))).toBe(
    'target: expected string, got an array of 1; diffSha: expected string, got nothing',
  );
});

test('an issue in nested JSON has its path, and an issue about size has the limit', () => {
  expect(issuesOf({ ...submission, metadata: { rows: [1, Number.NaN] } })).toEqual([
    { field: 'metadata.rows.1', message: 'expected a finite number, got NaN' },
  ]);
  expect(issuesOf({ ...submission, metadata: { a: 'x'.repeat(16_377) } })).toEqual([
    { field: 'metadata', message: 'expected at most 16384 bytes of JSON, got 16385' },
  ]);
});

test('an issue never repeats a string that was sent, however short [P12]', () => {
  const secret = 'hunter2';
  const broken = { ...submission, diffSha: secret, sourceTool: [secret], metadata: secret, inline: `${secret}!` };
  expect(issuesOf(broken).map((i) => i.field)).toEqual(
    expect.arrayContaining(['diffSha', 'sourceTool', 'metadata', 'inline']),
  );
  expect(JSON.stringify(issuesOf(broken))).not.toContain(secret);
});

test('truncates the name of an unknown member', () => {
  expect(issuesOf({ ...submission, ['k'.repeat(5_000)]: 1 })[0]?.field).toHaveLength(200);
});
