import { recordedFindings } from '../../../policy/evidence/recorded-findings';
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
  const rows = (await world.rows()).filter(({ row }) => row.body['validator_id'] === 'guardian.demo_post');
  expect(rows.map(({ row }) => row.body['status'])).toEqual(['ALLOW', 'BLOCK']);
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
