import { createGuardianActivities } from '../../../activities/review/run-guardians';
import type { Ledger } from '../../../policy/evidence/ledger-port';
import { validatorRegistry } from '../../../policy/rules/registry';
import { failureType, ReviewWorld } from '../../support/review-world';

/** The rules of a world, in the order of their calls and of the ledger's writes. */
function guardians(world: ReviewWorld, calls: string[] = []) {
  const spied = world.validators.keys().map((key) => {
    const definition = world.validators.get(key);
    const evaluate = definition?.evaluate;
    if (definition === undefined || evaluate == null) return definition;
    return { ...definition, evaluate: (input: Parameters<typeof evaluate>[0]) => (calls.push(key), evaluate(input)) };
  });
  const ledger: Ledger = {
    ...world.ledger,
    append: (...args) => {
      calls.push('append');
      return world.ledger.append(...args);
    },
  };
  const validators = validatorRegistry(spied as never);
  const activities = createGuardianActivities({ ...world.deps, validators, ledger, actor: 'review-worker' });
  const run = (unit = 'demo-pack') => activities.runGuardians({ ...world.ref, unit });
  return { calls, run };
}

async function opened(text: string): Promise<ReviewWorld> {
  const world = new ReviewWorld({ text });
  await world.open();
  return world;
}

test('a BLOCK neither throws nor stops: every static rule of the unit answers [G38, T43]', async () => {
  const { run } = guardians(await opened('HOLD FORBID OTHER'));
  const results = await run();
  expect(Object.entries(results).map(([id, r]) => [id, (r as { status: string }).status])).toEqual([
    ['guardian.demo_hold', 'BLOCK'],
    ['guardian.demo_other', 'BLOCK'],
    ['safety.demo_forbid', 'BLOCK'],
    ['safety.demo_advice', 'ALLOW'],
  ]);
});

test('nothing is written while validators run, and then all at once [G30]', async () => {
  const { calls, run } = guardians(await opened('HOLD'));
  await run();
  expect(calls).toEqual(['demo_hold', 'demo_other', 'demo_forbid', 'demo_advice', 'append']);
});

test('a report of each finding is kept, and says where it was detected; a repeat makes no second one [G12, G47]', async () => {
  const world = await opened('HOLD');
  const before = (await world.rows()).length;
  const first = await guardians(world).run();
  const rows = (await world.rows()).slice(before);
  expect(rows.map(({ row }) => [row.kind, row.body['validator_id'], row.body['detectedAt']])).toEqual(
    Object.keys(first).map((id) => ['findings', id, 'preflight']),
  );
  expect(await guardians(world).run()).toEqual(first);
  expect(await world.rows()).toHaveLength(before + rows.length);
});

test('while the ledger is away no result is handed on [G47, T69]', async () => {
  const world = await opened('HOLD');
  const { run } = guardians(world);
  world.ledger.down = new Error('away');
  await expect(run()).rejects.toThrow('away');
});

test('a plan that is revoked, or a rule with other logic, is refused rather than run [G33]', async () => {
  const world = await opened('HOLD');
  const other = validatorRegistry([{ ...world.validators.get('demo_hold'), logicRevision: 2 }] as never);
  const activities = createGuardianActivities({ ...world.deps, validators: other, actor: 'review-worker' });
  expect(await failureType(activities.runGuardians({ ...world.ref, unit: 'demo-pack' }))).toBe('policy_moved');
  world.revoked.add(world.planHash);
  expect(await failureType(guardians(world).run())).toBe('policy_moved');
});

test('an input that names other bytes than its hash says gets nothing', async () => {
  const world = await opened('HOLD');
  const { run } = guardians(world);
  const activities = createGuardianActivities({ ...world.deps, actor: 'review-worker' });
  const forged = { ...world.ref, metadata: { affected_rows: 1 }, unit: 'demo-pack' };
  expect(await failureType(activities.runGuardians(forged))).toBe('DIGEST_MISMATCH');
  expect(Object.keys(await run('no-such-unit'))).toEqual([]);
});
