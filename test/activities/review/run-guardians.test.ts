import { findingsIn } from '../../support/review/written-findings';
import { createGuardianActivities } from '../../../activities/review/run-guardians';
import { CountersignFailure } from '../../../policy/contracts/failure';
import { FailureType } from '../../../policy/contracts/failure-type';
import type { Ledger } from '../../../policy/evidence/ledger-port';
import { fromReported } from '../../../policy/decide/reported';
import { validatorRegistry } from '../../../policy/rules/registry';
import { failureType } from '../../support/review/failure-type';
import { ReviewWorld } from '../../support/review/review-world';

/** `calls` records the rules that run and the writes to the ledger, in order. */
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
  const activities = createGuardianActivities({ ...world.deps, validators, ledger });
  /** The results in the order of the plan. */
  const run = async (unit = 'demo-pack') => {
    const results = fromReported(world.plan, await activities.runGuardians({ changeId: world.changeId, unit }));
    return Object.fromEntries(world.plan.validators.flatMap(({ id }) => (id in results ? [[id, results[id]]] : [])));
  };
  return { calls, run };
}

/** A change whose guardians could not run when it was opened. */
async function opened(text: string): Promise<ReviewWorld> {
  const world = new ReviewWorld({ text });
  await world.openUnguarded();
  return world;
}

test('runs every static rule of the unit, even after a BLOCK [G38, T43]', async () => {
  const { run } = guardians(await opened('HOLD FORBID OTHER'));
  const results = await run();
  expect(Object.entries(results).map(([id, r]) => [id, (r as { status: string }).status])).toEqual([
    ['guardian.demo_hold', 'BLOCK'],
    ['guardian.demo_other', 'BLOCK'],
    ['safety.demo_forbid', 'BLOCK'],
    ['safety.demo_advice', 'ALLOW'],
  ]);
});

test('an outage of the database that ends in time does not use up an attempt', async () => {
  const world = await opened('HOLD');
  let failures = 2;
  const readKinds: Ledger['readKinds'] = async (...args) => {
    if (failures-- > 0) throw CountersignFailure.retryable('starting up', FailureType.Store);
    return world.ledger.readKinds(...args);
  };
  const activities = createGuardianActivities({ ...world.deps, ledger: { ...world.ledger, readKinds } });
  const reported = await activities.runGuardians({ changeId: world.changeId, unit: 'demo-pack' });
  expect(Object.keys(fromReported(world.plan, reported))).toContain('guardian.demo_hold');
});

test('writes nothing while validators run, then all findings in one append [G30]', async () => {
  const { calls, run } = guardians(await opened('HOLD'));
  await run();
  expect(calls).toEqual(['demo_hold', 'demo_other', 'demo_forbid', 'demo_advice', 'append']);
});

test('writes one report for each finding with the phase that detected it, and none on a retry [G12, G47]', async () => {
  const world = await opened('HOLD');
  const before = (await world.rows()).length;
  const first = await guardians(world).run();
  const rows = (await world.rows()).slice(before);
  expect(rows.map(({ row }) => findingsIn(row).map((f) => [f.validator_id, f['detectedAt']]))).toEqual([
    Object.keys(first).map((id) => [id, 'preflight']),
  ]);
  expect(await guardians(world).run()).toEqual(first);
  expect(await world.rows()).toHaveLength(before + rows.length);
});

test('returns no result while the ledger is unavailable [G47, T69]', async () => {
  const world = await opened('HOLD');
  const { run } = guardians(world);
  world.ledger.down = new Error('away');
  await expect(run()).rejects.toThrow('away');
});

test('refuses to run a revoked plan or a rule with other logic [G33]', async () => {
  const world = await opened('HOLD');
  const other = validatorRegistry([{ ...world.validators.get('demo_hold'), logicRevision: 2 }] as never);
  const activities = createGuardianActivities({ ...world.deps, validators: other });
  expect(await failureType(activities.runGuardians({ changeId: world.changeId, unit: 'demo-pack' }))).toBe(
    'policy_moved',
  );
  world.revoked.add(world.planHash);
  expect(await failureType(guardians(world).run())).toBe('policy_moved');
});

test('a unit that the plan does not have gives no result', async () => {
  const { run } = guardians(await opened('HOLD'));
  expect(await run('no-such-unit')).toEqual({});
});
