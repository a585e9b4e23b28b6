import { extractSqlFacts } from '../../../source-tools/sql/facts/extract-sql-facts';
import { compilePlan } from '../../../policy/bundle/compile-plan';
import { planEvaluator } from '../../../policy/bundle/evaluate';
import { parseBundle } from '../../../policy/bundle/parse-bundle';
import { starterBundle } from '../../../source-tools/starter-bundle';
import { extensionsOf } from '../../../workers/extensions';
import { ourTools } from '../../support/source-tools';

const { validators } = extensionsOf();

test.each([
  ['nothing', ''],
  ['no SQL', 'please drop the table'],
  ['a NUL byte', 'select 1\0'],
  ['bytes that are not text', '\ud800'],
  ['more than the bounds allow', `select ${'1,'.repeat(100_000)}1`],
])('input that no rule can read, %s, does not pass [V27]', async (_what, text) => {
  const parsed = parseBundle(starterBundle('SQLDryRun'));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues));
  const compiled = compilePlan(parsed.bundle, validators, {
    target: 'dev',
    sourceTool: 'SQLDryRun',
    tools: ourTools,
  });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.issues));
  const raw = text === '\ud800' ? new Uint8Array([0xff, 0xfe, 0x41]) : new TextEncoder().encode(text);
  const facts = await extractSqlFacts(raw);
  const evaluate = planEvaluator(compiled.plan, validators, ourTools);
  const { outcome, findings } = evaluate({ raw, metadata: {}, facts, staging: null, at: null });
  expect(facts.ok).toBe(false);
  expect(outcome).not.toBe('COMMIT');
  expect(findings.some((f) => f.status === 'BLOCK' && f.evidenceRefs.length > 0)).toBe(true);
});
