import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { recordResolution } from '../../activities/committer/effect-resolution';
import { recordFreeze } from '../../activities/committer/target-freezes';
import { openDatabase, type Database } from '../../storage/database/database';
import { createLedger } from '../../storage/ledger/ledger';
import { defineSourceTool } from '../../source-tools/define';
import { gitPatch } from '../../source-tools/git';
import { gitPatchEffects } from '../../source-tools/git/staging';
import { sqlDryRun } from '../../source-tools/sql';
import { sqlDryRunEffects } from '../../source-tools/sql/staging';
import { defineRule } from '../../policy/rules/define';
import type { Extension } from '../../workers/extensions';
import { lookAgainSignal } from '../../workflows/messages';
import { makeRepository, oneLinePatch, type GitRepository } from '../../dev/fixtures/git-repository';
import { startJsonApi, type JsonApi } from '../../dev/fixtures/json-api';
import { eventually } from '../support/eventually';
import { useSystem } from '../support/system';

const contains = (diff: { readonly raw: Uint8Array }, word: string): boolean =>
  new TextDecoder().decode(diff.raw).includes(word);

const settings = z.strictObject({});

/** A rule that holds diffs with HOLD, a post rule that rejects an applied UNDO, and a SQL tool that marks the record at commit time as applied. */
const extension: Extension = {
  sourceTools: [
    defineSourceTool({
      ...sqlDryRun,
      sourceTool: 'ShopSQL',
      staging: async () => ({
        ...sqlDryRunEffects,
        commit: (ctx) =>
          sqlDryRunEffects.commit({
            ...ctx,
            postCheck: async (record) =>
              (await ctx.postCheck?.({ ...record, base: { ...record.base, written: 'now' } })) ?? { ok: true },
          }),
      }),
    }),
    // The first attempt fails between the branch update and the post validators.
    defineSourceTool({
      ...gitPatch,
      sourceTool: 'DyingGit',
      staging: async () => ({
        ...gitPatchEffects,
        commit: async (ctx) => {
          const isFirst = repo.git('for-each-ref', `refs/countersign/changes/${ctx.changeId}`) === '';
          if (!isFirst) return gitPatchEffects.commit(ctx);
          const killed = new Error('killed');
          return gitPatchEffects.commit({ ...ctx, postCheck: () => Promise.reject(killed) }).catch((error: unknown) => {
            if (error !== killed) throw error;
            return { kind: 'unknown', explanation: 'killed' } as const;
          });
        },
      }),
    }),
  ],
  validators: [
    defineRule({
      name: 'team_hold',
      pack: 'team',
      logicRevision: 1,
      config: settings,
      sourceTools: '*',
      reads: ['bytes'],
      defaultLevel: 'confirm',
      why: 'An example.',
      docs: 'docs/rules.md',
      apply: ({ diff }) =>
        contains(diff, 'HOLD')
          ? { fires: true, reason: 'The diff contains HOLD', evidence: [`diff:${diff.diffSha}#L1:C1-L1:C2`] }
          : { fires: false },
    }) as never,
    defineRule({
      name: 'team_undo',
      pack: 'team',
      logicRevision: 1,
      config: settings,
      sourceTools: '*',
      phase: 'post',
      reads: ['bytes', 'staging'],
      defaultLevel: 'confirm',
      why: 'An example.',
      docs: 'docs/rules.md',
      apply: ({ diff, staging }) =>
        contains(diff, 'UNDO') && staging?.record.base['written'] !== undefined
          ? {
              fires: true,
              reason: 'The diff contains UNDO and was applied',
              evidence: [`diff:${diff.diffSha}#L1:C1-L1:C2`],
            }
          : { fires: false },
    }) as never,
  ],
};

const BUNDLE = `
version: 1
name: effects
domain: tests
provider: none
model: none
targets:
  shop: { development: true, sourceTools: [SQLDryRun, ShopSQL] }
  repo: { development: true, sourceTools: [GitPatch, DyingGit] }
  api: { development: true, sourceTools: [HTTPPatch], staging: { timeoutMs: 1000 } }
groups:
  dba: { members: [alice, bob] }
defaultGroup: dba
validators:
  - { rule: team_hold }
  - { rule: team_undo }
`;

let repo: GitRepository;
let api: JsonApi;
let asOperator: Database;
beforeAll(async () => {
  repo = makeRepository({ 'README.md': 'one\n' });
  api = await startJsonApi();
});
const system = useSystem(() => ({
  name: 'effects',
  bundleText: BUNDLE,
  extension,
  shopSql: 'create table items (id int primary key, note text not null); insert into items values (1, $$old$$)',
  workers: ['review', 'commit'],
  targets: [repo.target, api.target],
}));
beforeAll(() => {
  asOperator = openDatabase({ url: system.setup.databaseUrls.cs_operator, applicationName: 'test' });
});
afterAll(async () => {
  await asOperator.close();
  await api.stop();
  repo.remove();
});
beforeEach(() => {
  api.reset();
  api.documents.set('/v1/flags/beta', { on: false });
});

const patch = async (to: string, sourceTool = 'GitPatch') => {
  const from = repo.read('README.md').trim();
  const raw = oneLinePatch('README.md', from, to);
  return await system.submit({ target: 'repo', sourceTool, raw, metadata: { base_commit: repo.tip() } });
};
const flag = async (note: string) => {
  const body = [{ op: 'add', path: '/note', value: note }];
  const raw = JSON.stringify({
    method: 'PATCH',
    url: `${api.url}/flags/beta`,
    contentType: 'application/json-patch+json',
    body,
  });
  return await system.submit({ target: 'api', sourceTool: 'HTTPPatch', raw, metadata: {} });
};
const reached = async (changeId: string, state: string): Promise<void> => {
  for (let i = 0; i < 1_200; i++) {
    if ((await system.countersign.status(changeId)).state === state) return;
    await pause(50);
  }
  throw new Error(`The review did not reach ${state} within 60 s`);
};
const effectOf = async (changeId: string) =>
  (await system.ledger(changeId)).find(({ row }) => row.kind === 'effect')?.row.body['effect'];

test('a git patch without a valid base_commit is refused when it is submitted, and the error names the field', async () => {
  const raw = oneLinePatch('README.md', repo.read('README.md').trim(), 'without a base');
  for (const metadata of [{}, { base_commit: 'main' }])
    await expect(system.submit({ target: 'repo', sourceTool: 'GitPatch', raw, metadata })).rejects.toThrow(
      /metadata\.base_commit.*the full id of the commit that the patch is based on/,
    );
});

test('a confirmed git patch becomes one commit on the branch, and the receipt names it [T65]', async () => {
  const base = repo.tip();
  const { changeId } = await patch('HOLD two');
  expect(repo.tip()).toBe(base);
  await system.answer(changeId, 'alice', 'confirm');
  expect(await system.ended(changeId)).toMatchObject({ state: 'COMMITTED', verified: true });
  expect(repo.read('README.md')).toBe('HOLD two\n');
  expect(repo.git('rev-parse', 'main^')).toBe(base);
  expect(repo.git('log', '-1', '--format=%B', 'main')).toContain(changeId);
  expect(await effectOf(changeId)).toMatchObject({ commit: repo.tip(), base });
});

test('a git patch is not applied if its branch moved while the review waited [T61]', async () => {
  const { changeId } = await patch('HOLD three');
  await system.waiting(changeId);
  const moved = repo.push({ 'README.md': 'manual edit\n' });
  await system.answer(changeId, 'alice', 'confirm');
  expect(await system.ended(changeId)).toMatchObject({ state: 'ROLLED_BACK', outcome: { reason: 'stale_base' } });
  expect(repo.tip()).toBe(moved);
});

test('a git patch that a post validator rejects after it was applied is reverted and ends COMPENSATED', async () => {
  const base = repo.tip();
  const { changeId } = await patch('UNDO');
  const { state, outcome, verified } = await system.ended(changeId);
  expect({ state, reason: outcome.reason, verified }).toEqual({
    state: 'COMPENSATED',
    reason: 'post_failed',
    verified: true,
  });
  expect(outcome.explanation).toContain('guardian.team_undo');
  expect(repo.tip()).toBe(base);
  expect(await effectOf(changeId)).toMatchObject({ base });
});

test.each(['UNDO', 'fine'])(
  'a git patch whose commit attempt died after applying it is checked by the post validators when it is found: %s',
  async (word) => {
    const base = repo.tip();
    const { changeId } = await patch(word, 'DyingGit');
    const { state, outcome } = await system.ended(changeId);
    expect([state, outcome.reason]).toEqual(word === 'UNDO' ? ['COMPENSATED', 'post_failed'] : ['COMMITTED', null]);
    expect(repo.tip() === base).toBe(word === 'UNDO');
    expect(await effectOf(changeId)).not.toHaveProperty('postValidators');
  },
);

test('SQL that a post validator rejects at commit is rolled back with its transaction and ends post_failed', async () => {
  const raw = `UPDATE items SET note = 'UNDO' WHERE id = 1`;
  const { changeId } = await system.submit({ sourceTool: 'ShopSQL', raw, metadata: {} });
  const { state, outcome, verified } = await system.ended(changeId);
  expect({ state, reason: outcome.reason, verified }).toEqual({
    state: 'ROLLED_BACK',
    reason: 'post_failed',
    verified: true,
  });
  expect(await system.shop('select note from items')).toEqual([{ note: 'old' }]);
});

test('a confirmed HTTP patch is sent once with the approved ETag, and the receipt names the new ETag [T65]', async () => {
  const { changeId } = await flag('HOLD');
  await system.answer(changeId, 'alice', 'confirm');
  expect(await system.ended(changeId)).toMatchObject({ state: 'COMMITTED', verified: true });
  expect(api.documents.get('/v1/flags/beta')).toMatchObject({ note: 'HOLD' });
  const writes = api.requests.filter(({ method }) => method === 'PATCH');
  expect(writes.map(({ headers }) => headers['idempotency-key'])).toEqual([changeId]);
  const { etagBefore, etagAfter } = (await effectOf(changeId)) as { etagBefore: string; etagAfter: string };
  expect(writes[0]?.headers['if-match']).toBe(etagBefore);
  expect(etagAfter).not.toBe(etagBefore);
});

test('an HTTP patch that the server applied but answered with 500 is detected by reading back', async () => {
  api.behaviour.write = 'applies_then_500';
  const { changeId } = await flag('five hundred');
  expect(await system.ended(changeId)).toMatchObject({ state: 'COMMITTED', verified: true });
  expect(api.applied).toHaveLength(1);
});

test('an effect that cannot be determined waits for an operator, whose resolution ends the review at once', async () => {
  api.behaviour.write = 'applies_then_drops';
  api.behaviour.afterWrite = () => void api.documents.set('/v1/flags/beta', { on: true });
  const { changeId } = await flag('lost');
  await reached(changeId, 'EFFECT_UNKNOWN');
  await recordResolution(
    createLedger(asOperator),
    { changeId, target: 'api', applied: true, reason: 'seen in its log', resolvedAt: new Date().toISOString() },
    system.setup.keys.operator.key,
  );
  await system.temporal.workflow.getHandle(changeId).signal(lookAgainSignal);
  const { state, outcome, verified } = await system.ended(changeId);
  expect({ state, verified }).toEqual({ state: 'COMMITTED', verified: true });
  expect(outcome.explanation).toContain('seen in its log');
  expect(await effectOf(changeId)).toMatchObject({ resolution: { keyId: system.setup.keys.operator.key.keyId } });
});

test('a commit waits while its target is frozen, and is applied once the freeze is lifted', async () => {
  const setFrozen = (frozen: boolean) =>
    recordFreeze(
      asOperator,
      { target: 'api', frozen, reason: 'migration', at: new Date().toISOString() },
      system.setup.keys.operator.key,
    );
  await setFrozen(true);
  const { changeId } = await flag('frozen');
  const refused = async () => (await system.ledger(changeId)).some(({ row }) => row.body['check'] === 'target_frozen');
  await eventually('the commit is refused', refused, { everyMs: 50 });
  expect(api.applied).toHaveLength(0);
  await setFrozen(false);
  expect(await system.ended(changeId)).toMatchObject({ state: 'COMMITTED', verified: true });
  expect(api.applied).toHaveLength(1);
});
