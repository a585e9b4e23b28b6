import { join } from 'node:path';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { inlineDerivation } from '../../activities/review/derivation';
import type { DerivationThreads } from '../../activities/review/derivation-threads';
import { starterBundle } from '../../source-tools/starter-bundle';
import { sha256Hex } from '../../policy/contracts/hash';
import type { PlanValidator } from '../../policy/contracts/plan';
import { compiled } from '../support/compiled';
import { compiledPlan, ours } from '../support/compiled-plan';

const A = 'a'.repeat(64);
const { validators, sourceTools: tools } = ours;
const here = inlineDerivation({ tools, validators });
const changeOf = (text: string) => {
  const raw = new TextEncoder().encode(text);
  return {
    changeId: A,
    inputSha: A,
    diff: { sourceTool: 'SQLDryRun', raw, diffSha: sha256Hex(raw), metadata: {} },
    staging: null,
  };
};

let dist: string;
let rules: readonly PlanValidator[];
const open: DerivationThreads[] = [];
const folder = mkdtempSync(join(tmpdir(), 'countersign-derivation-'));
beforeAll(async () => {
  dist = await compiled();
  const { plan } = compiledPlan(starterBundle('SQLDryRun'), 'SQLDryRun');
  rules = plan.validators.filter((v) => v.kind === 'derived' && !v.needsStaging && v.unit !== 'builtin');
}, 180_000);
afterAll(async () => {
  await Promise.all(open.map((threads) => threads.close()));
  rmSync(folder, { recursive: true });
});

/** Threads of the compiled workers, as review worker and committer start them. */
function threadsOf(extensions = '', wallMs?: number): DerivationThreads {
  const { startDerivationThreads } = require(join(dist, 'workers', 'derivation.js')) as {
    startDerivationThreads: (list: string, wallMs?: number) => DerivationThreads;
  };
  const threads = startDerivationThreads(extensions, wallMs);
  open.push(threads);
  return threads;
}

test('a thread returns the same facts and results as the calling thread, byte for byte [G23]', async () => {
  const threads = threadsOf();
  for (const text of ['delete from orders', "do $$ begin execute 'drop table t'; end $$", 'select 1', 'no sql', '']) {
    const change = changeOf(text);
    const results = await threads.results(rules, change);
    expect(JSON.stringify(results)).toBe(JSON.stringify(await here.results(rules, change)));
    expect(JSON.stringify(await threads.facts(change.diff))).toBe(JSON.stringify(await here.facts(change.diff)));
  }
});

test('a rule that never returns is killed, fails as retryable, and does not delay other diffs [F20, T28]', async () => {
  const module = join(folder, 'endless.cjs');
  writeFileSync(
    module,
    `const { defineRule } = require(${JSON.stringify(join(dist, 'policy', 'rules', 'define.js'))});
     const z = require(${JSON.stringify(require.resolve('zod'))}).z;
     exports.extension = { validators: [defineRule({
       name: 'team_endless', pack: 'team', logicRevision: 1, config: z.strictObject({}), sourceTools: '*', reads: ['bytes'],
       defaultLevel: 'confirm', why: 'never ends', docs: 'docs/none.md', apply: () => { for (;;); },
     })] };`,
  );
  const threads = threadsOf(module, 8_000);
  const endless = { ...(rules[0] as PlanValidator), id: 'guardian.team_endless', implementation: 'team_endless' };
  const change = changeOf('delete from orders');
  const failing = threads.results([endless], change);
  await expect(failing).rejects.toMatchObject({ type: 'ErrValidatorBackend', nonRetryable: false });
  expect(Object.keys(await threads.results(rules, change))).toHaveLength(rules.length);
});
