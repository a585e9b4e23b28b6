import { findingsIn } from '../../support/review/written-findings';
import type { JsonObject } from '../../../policy/contracts/canonical-json';
import { previewSha } from '../../../policy/contracts/staging-record';
import { recordedFindings } from '../../../policy/evidence/recorded-findings';
import { failureType } from '../../support/review/failure-type';
import { ReviewWorld } from '../../support/review/review-world';

/** Ledger rows of the post validator `demo_post`, which fires on more than five rows. */
async function recorded(world: ReviewWorld, stagingSha: string | null): Promise<string | undefined> {
  const rows = (await world.rows()).map(({ row }) => row);
  const end = stagingSha === null ? null : ({ action: 'ROLLBACK', reason: 'withdrawn', stagingSha } as const);
  const findings = recordedFindings({ plan: world.plan, changeId: world.changeId, rows, end });
  return findings.find((f) => f.validator_id === 'guardian.demo_post')?.status;
}

async function stagedTwice(): Promise<{ world: ReviewWorld; few: string; many: string }> {
  const world = new ReviewWorld({ text: 'clean' });
  await world.open();
  const shaOf = async (rows: number): Promise<string> => {
    world.target.updated = rows;
    const staged = await world.stage();
    return staged.kind === 'staged' ? staged.stagingSha : '';
  };
  return { world, few: await shaOf(1), many: await shaOf(7) };
}

test('records separate findings for a second dry run [G12]', async () => {
  const { world, few, many } = await stagedTwice();
  const written = (await world.rows()).flatMap(({ row }) => findingsIn(row));
  expect(written.filter((f) => f.validator_id === 'guardian.demo_post').map((f) => f['status'])).toEqual([
    'ALLOW',
    'BLOCK',
  ]);
  expect([await recorded(world, few), await recorded(world, many)]).toEqual(['ALLOW', 'BLOCK']);
});

test('reports the findings of the last dry run while the change is open', async () => {
  const { world } = await stagedTwice();
  expect(await recorded(world, null)).toBe('BLOCK');
});

test('writes nothing for a repeated dry run with the same record', async () => {
  const { world } = await stagedTwice();
  const rows = (await world.rows()).length;
  await world.stage();
  expect(await world.rows()).toHaveLength(rows);
});

test('executes nothing if it finds a SAFETY BLOCK, and records the refusal [P8]', async () => {
  const world = new ReviewWorld({ text: 'FORBID' });
  await world.open();
  expect(await world.stage()).toMatchObject({ kind: 'refused', explanation: expect.stringContaining('demo_forbid') });
  expect([world.stagingRecords.size, (await world.kinds()).at(-1)]).toEqual([0, 'refused']);
});

/** A world whose store says that the worker was lost `times` times during a dry run. */
function lostWorld(times: number): { world: ReviewWorld; ended: () => number } {
  let ended = 0;
  class LostWorld extends ReviewWorld {
    override get deps() {
      const staging = {
        ...super.deps.staging,
        begin: async () => ({ attempt: 'next', lost: times }),
        end: async () => void ended++,
      };
      return { ...super.deps, staging };
    }
  }
  return { world: new LostWorld({ text: 'clean' }), ended: () => ended };
}

test('is repeated once after the worker was lost during it, and then rejected', async () => {
  for (const [times, kind] of [
    [0, 'staged'],
    [1, 'staged'],
    [2, 'rejected'],
  ] as const) {
    const { world, ended } = lostWorld(times);
    await world.open();
    expect(await world.stage()).toMatchObject({ kind });
    expect(ended()).toBe(1);
  }
});

test('a rejected dry run ends the review as commit_failed, also if an attempt that was given up succeeds later', async () => {
  const { world } = lostWorld(2);
  await world.open();
  expect(await world.stage()).toMatchObject({ kind: 'rejected' });
  await world.stageAnyway();
  expect(await world.rollback({ reason: 'commit_failed' })).toMatchObject({
    state: 'ROLLED_BACK',
    reason: 'commit_failed',
    explanation: expect.stringContaining('the worker was lost during 2 dry runs'),
  });
});

test('a dry run that finds a moved base ends the review as stale_base, whatever reason the workflow asks for', async () => {
  for (const [stale, reason, asked] of [
    [{ stale: true }, 'stale_base', 'stale_base'],
    [{ stale: true }, 'stale_base', 'commit_failed'],
    [{}, 'commit_failed', 'stale_base'],
  ] as const) {
    const world = new ReviewWorld({ text: 'clean' });
    const rejected = { kind: 'rejected', ...stale, explanation: 'main is at 3f' } as const;
    Object.assign(world.target.effects, { stage: async () => rejected });
    await world.open();
    expect(await world.stage()).toEqual(rejected);
    expect((await world.rows()).at(-1)?.row.body).toEqual({ rejected: true, ...stale, explanation: 'main is at 3f' });
    const explanation = expect.stringContaining('main is at 3f');
    expect(await world.rollback({ reason: asked })).toMatchObject({ state: 'ROLLED_BACK', reason, explanation });
  }
});

test('a moved base that another dry run finds after the disclosure does not end the review', async () => {
  const world = await new ReviewWorld().reviewed();
  const rejected = { kind: 'rejected', stale: true, explanation: 'main is at 3f' } as const;
  Object.assign(world.target.effects, { stage: async () => rejected });
  expect(await world.stage()).toEqual(rejected);
  expect(await failureType(world.rollback({ reason: 'stale_base' }))).toBe('VALIDATION_ERROR');
});

test('binds the preview that is stored with the record', async () => {
  const world = new ReviewWorld({ text: 'clean' });
  const preview = { tables: [{ table: 'orders', rows: [{ before: null, after: { note: 'lone \ud800' } }] }] };
  const kept: unknown[][] = [];
  Object.assign(world.target.effects, {
    stage: async () => ({ kind: 'staged', record: world.target.record(), preview }),
  });
  const { staging } = world.deps;
  Object.defineProperty(world, 'deps', {
    value: { ...world.deps, staging: { ...staging, put: async (...args: unknown[]) => void kept.push(args) } },
  });
  await world.open();
  expect((await world.stage()).kind).toBe('staged');
  const [, , record, stored] = kept[0] ?? [];
  expect(record).toMatchObject({ previewSha: previewSha(stored as JsonObject) });
  expect(JSON.stringify(stored)).toContain('lone \ufffd');
});
