import { extractSqlFacts } from '../../../source-tools/sql/facts/extract-sql-facts';
import { starterEvaluator } from '../../support/compiled-plan';

test.each([
  ['nothing', ''],
  ['no SQL', 'please drop the table'],
  ['a NUL byte', 'select 1\0'],
  ['bytes that are not text', '\ud800'],
  ['more than the bounds allow', `select ${'1,'.repeat(100_000)}1`],
])('input that no rule can read, %s, does not pass [V27]', async (_what, text) => {
  const raw = text === '\ud800' ? new Uint8Array([0xff, 0xfe, 0x41]) : new TextEncoder().encode(text);
  const facts = await extractSqlFacts(raw);
  const { outcome, findings } = starterEvaluator('SQLDryRun')({ raw, metadata: {}, facts, staging: null, at: null });
  expect(facts.ok).toBe(false);
  expect(outcome).not.toBe('COMMIT');
  expect(findings.some((f) => f.status === 'BLOCK' && f.evidenceRefs.length > 0)).toBe(true);
});
