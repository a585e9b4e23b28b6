import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '..', '..', '..');
const source = readFileSync(join(root, 'activities/committer/verify-change.ts'), 'utf8');
const tests = readFileSync(join(__dirname, 'verify-change.test.ts'), 'utf8');
const checks = [...new Set([...source.matchAll(/refuse\(\s*'(\w+)'/g)].map(([, check]) => check ?? ''))];

test('the committer has its checks', () => expect(checks.length).toBeGreaterThanOrEqual(16));

test.each(checks)('the committer’s check %s has a test that sees it refuse', (check) =>
  expect(tests).toMatch(new RegExp(`'${check}'`)),
);
