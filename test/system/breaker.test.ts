import { BREAKER_PARAMETERS } from '../../policy/decide/breaker';
import type { BreakerView } from '../../policy/decide/breakers';
import { createBreakers, recordBreakerReset, type BreakerStore } from '../../storage/breakers/breakers';
import { query } from '../../dev/query';
import { openDatabase, type Database } from '../../storage/database/database';
import { eventually } from '../support/eventually';
import { SHOP } from '../support/shop-bundle';
import { useSystem } from '../support/system';
import { update } from './scenarios';

/** Three bad changes open a breaker, far longer than these tests take. */
const PARAMETERS = { ...BREAKER_PARAMETERS, minSamples: 3, openMs: 3_600_000, windowMs: 36_000_000 };
const PAIR = { tenant: 'default', sourceTool: 'SQLDryRun' };
const PRICES = 'guardian.shop_tables';

const system = useSystem({ ...SHOP, name: 'breaker', breakers: { parameters: PARAMETERS } });
let db: Database;
let breakers: BreakerStore;
beforeAll(() => {
  db = openDatabase({ url: system.setup.databaseUrls.cs_operator, applicationName: 'test' });
  const operators = [system.setup.keys.operator.key.publicKey];
  breakers = createBreakers({ db, operators, parameters: PARAMETERS });
});
afterAll(() => db.close());

async function breakerOf(validatorId: string): Promise<BreakerView | undefined> {
  return (await breakers.read(PAIR)).breakers?.find((b) => b.validatorId === validatorId);
}

let n = 0;
const change = (table: 'items' | 'prices') => {
  const [column, row] = table === 'items' ? ['stock', 1] : ['cents', 2];
  return update(`update ${table} set ${column} = ${++n} where id = ${row}`, table, 1);
};
const submit = async (table: 'items' | 'prices'): Promise<string> => (await system.submit(change(table))).changeId;

/** Ends a change that waits for a person. */
async function end(changeId: string): Promise<void> {
  await system.answer(changeId, 'alice', 'reject');
  await system.ended(changeId);
}

/** A change that the table rule holds and that is then rejected. */
async function badChange(): Promise<string> {
  const changeId = await submit('prices');
  await system.waiting(changeId);
  await end(changeId);
  return changeId;
}

async function openBreaker(): Promise<string[]> {
  const bad: string[] = [];
  for (let i = 0; i < 3; i++) bad.push(await badChange());
  expect(await breakerOf(PRICES)).toMatchObject({ state: 'open', evidence: [...bad].reverse() });
  return bad;
}

const reset = () =>
  recordBreakerReset(
    db,
    { ...PAIR, validatorId: null, reason: 'test', issuedAt: new Date().toISOString() },
    system.setup.keys.operator.key,
  );

/** Instead of waiting: dates all rows back. The table is append-only, except for a superuser without triggers. */
async function halfOpen(): Promise<void> {
  const { pathname } = new URL(system.setup.databaseUrls.cs_operator);
  const url = Object.assign(new URL(process.env['COUNTERSIGN_TEST_POSTGRES'] ?? ''), { pathname }).href;
  const back = `update breaker_rows set at = at - interval '${PARAMETERS.openMs} milliseconds'`;
  await query(url, `set session_replication_role = replica; ${back}`);
  expect(await breakerOf(PRICES)).toMatchObject({ state: 'open', halfOpenAt: expect.any(Number) });
}

test('opens after bad changes and adds one violation that names them; a harmless change then waits for a person, even after a restart [F7, F64]', async () => {
  const bad = await openBreaker();
  await system.stopWorker('review');
  await system.startWorker('review');
  const changeId = await submit('items');
  const status = await system.waiting(changeId);
  const finding = status.findings.find((f) => f.validatorId === 'guardian.circuit_open');
  expect(finding).toMatchObject({ status: 'BLOCK', class: 'POLICY', reasonCode: 'circuit_open' });
  expect(finding?.evidenceRefs).toEqual([...bad].reverse().map((id) => `review:${id}`));
  expect(status.violations.map((v) => v.validatorId)).toEqual(['guardian.circuit_open']);
  await system.answer(changeId, 'alice', 'confirm');
  expect(await system.ended(changeId)).toMatchObject({ state: 'COMMITTED' });
  // It was not the probe, so its good verdict does not close the breaker.
  expect(await breakerOf(PRICES)).toMatchObject({ state: 'open' });
});

test('half-open lets one of two concurrent changes through as the probe, and a good probe closes the breaker', async () => {
  await reset();
  await openBreaker();
  await halfOpen();
  const ids = await Promise.all([submit('items'), submit('items')]);
  // The first change is the probe. If it ends before the second is opened, both pass.
  const ended = ids.map((id) => system.ended(id));
  const first = await Promise.any(ended);
  expect(first).toMatchObject({ state: 'COMMITTED' });
  expect(await breakerOf(PRICES)).toMatchObject({ state: 'closed' });
  for (const id of ids) {
    const state = await eventually('the change waits for a person, or was let through', async () => {
      const { state } = await system.countersign.status(id);
      return state !== 'RUNNING' && state;
    });
    if (state === 'INTERVENTION_REQUIRED') await end(id);
  }
  await Promise.all(ended);
});

test('a bad probe reopens the breaker', async () => {
  await reset();
  await openBreaker();
  await halfOpen();
  const probe = await submit('prices');
  const status = await system.waiting(probe);
  expect(status.violations.map((v) => v.validatorId)).toEqual([PRICES]);
  const second = await submit('items');
  expect((await system.waiting(second)).violations.map((v) => v.validatorId)).toEqual(['guardian.circuit_open']);
  await end(probe);
  const after = await breakerOf(PRICES);
  expect(after?.state === 'open' && after.evidence[0]).toBe(probe);
  expect(after?.state === 'open' && after.probe).toBeNull();
  await end(second);
});

test('a reset that an operator signed closes the breaker, and the next change passes', async () => {
  await reset();
  await openBreaker();
  await reset();
  expect(await breakerOf(PRICES)).toBeUndefined();
  expect(await system.ended(await submit('items'))).toMatchObject({ state: 'COMMITTED' });
});
