import { utf8ToBytes } from '@noble/hashes/utils.js';
import { askedFor, type AskedIn } from '../../../policy/bundle/asked';
import { planEvaluator } from '../../../policy/bundle/evaluate';
import { extractSqlFacts } from '../../../source-tools/sql/facts/extract-sql-facts';
import { ourTools } from '../../support/source-tools';
import { demoRule } from '../../support/demo-rule';
import { planOf, registryOf } from './fixtures';

const rules = registryOf(
  demoRule('team_rule', {
    pack: 'team-rules',
    apply: ({ diff }) =>
      diff.metadata['fires'] === true ? { fires: true, reason: 'because', evidence: ['diff:x#'] } : { fires: false },
    reads: ['metadata'],
  }) as never,
);

async function asked(policy: string, given: Partial<AskedIn> = {}, more: Record<string, string> = {}) {
  const validators = '\n  - pack: team-rules';
  const { plan } = planOf({ validators, policies: `\n  - {key: p, name: P, ${policy}}`, ...more }, 'SQLDryRun', rules);
  const raw = utf8ToBytes('SELECT 1');
  const input = { raw, metadata: { fires: true }, facts: await extractSqlFacts(raw), staging: null, at: null };
  const evaluation = planEvaluator(plan, rules, ourTools)(input);
  return askedFor(plan, evaluation, { staging: null, requester: 'dana', callbacks: {}, ...given });
}

const CALLBACK =
  'match: {validatorIds: [guardian.team_rule]}, requiresConfirmation: false, callback: {key: in-window, version: v2}';

test('a policy asks its group; without one the implicit policy asks', async () => {
  expect(await asked('quorum: 1')).toMatchObject([{ rule: 'guardian.team_rule', policy: 'p', quorum: 1 }]);
  expect(await asked('match: {sourceTools: [HTTPPatch]}')).toMatchObject([{ policy: 'implicit' }]);
});

test('a callback that passes answers instead of people; if it fails or has no result, the change is rolled back and no one is asked', async () => {
  for (const callbacks of [{ 'in-window': true }, { 'in-window': false }, {}])
    expect(await asked(CALLBACK, { callbacks })).toEqual([]);
});

test('with warnOnly a callback that passes does not resolve a BLOCK: people are asked', async () => {
  const callbacks = { 'in-window': true };
  const more = { autoResolve: ' warnOnly' };
  expect(await asked(CALLBACK, { callbacks }, more)).toMatchObject([{ policy: 'p' }]);
  expect(await asked(CALLBACK, { callbacks: {} }, more)).toEqual([]);
});
