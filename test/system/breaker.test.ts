import { WorkflowNotFoundError } from '@temporalio/client';
import { BREAKER_PARAMETERS } from '../../policy/decide/breaker';
import { BREAKER_WORKFLOW, breakerWorkflowId } from '../../policy/decide/breaker-messages';
import { TASK_QUEUES } from '../../policy/contracts/queues';
import type { BreakerView } from '../../policy/decide/breakers';
import { readQuery, resetUpdate, samplesSignal } from '../../workflows/messages';
import { SHOP_SQL, shopBundle } from '../support/shop-bundle';
import { pause, startSystem, type System } from '../support/system';
import { update } from './scenarios';

/** Three bad changes open a breaker for 15 s, long enough for a loaded machine to submit several changes. */
const PARAMETERS = { ...BREAKER_PARAMETERS, minSamples: 3, openMs: 15_000 };
const TOOL = 'SQLDryRun';
const PRICES = 'guardian.shop_tables';

let system: System;
beforeAll(async () => {
  system = await startSystem({
    name: 'breaker',
    bundleText: shopBundle(),
    shopSql: SHOP_SQL,
    breakers: { parameters: PARAMETERS, continueAfter: 60 },
  });
}, 120_000);
afterAll(() => system.close());
jest.setTimeout(120_000);

const queue = (): string => TASK_QUEUES.review + system.suffix;
const handle = () =>
  system.temporal.workflow.getHandle(breakerWorkflowId({ tenant: 'default', sourceTool: TOOL }, queue()));

async function breakerOf(validatorId: string): Promise<BreakerView | undefined> {
  const { breakers } = await handle().query(readQuery, 'all');
  return breakers.find((b) => b.validatorId === validatorId);
}

let n = 0;
const change = (table: 'items' | 'prices') => {
  const [column, row] = table === 'items' ? ['stock', 1] : ['cents', 2];
  return update(`update ${table} set ${column} = ${++n} where id = ${row}`, table, 1);
};
const submit = async (table: 'items' | 'prices'): Promise<string> => (await system.submit(change(table))).changeId;

/** A change that the table rule holds and that is then withdrawn. */
async function badChange(): Promise<string> {
  const changeId = await submit('prices');
  await system.waiting(changeId);
  await system.countersign.withdraw(changeId, { actor: 'agent', reason: 'test' });
  await system.ended(changeId);
  return changeId;
}

async function openBreaker(): Promise<string[]> {
  const bad: string[] = [];
  for (let i = 0; i < 3; i++) bad.push(await badChange());
  expect(await breakerOf(PRICES)).toMatchObject({ state: 'open', evidence: [...bad].reverse() });
  return bad;
}

const reset = async () => {
  const message = { validatorId: null, actor: 'dana', reason: 'test' };
  try {
    return await handle().executeUpdate(resetUpdate, { args: [message] });
  } catch (error) {
    // No review has ended yet: in the first test, or if a test runs alone.
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
};

async function halfOpen(): Promise<void> {
  const view = await breakerOf(PRICES);
  await pause(Math.max(0, (view?.state === 'open' ? view.halfOpenAt : 0) - Date.now()) + 50);
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
  const first = await Promise.any(ids.map((id) => system.ended(id)));
  expect(first).toMatchObject({ state: 'COMMITTED' });
  expect(await breakerOf(PRICES)).toMatchObject({ state: 'closed' });
  const { breakers } = await handle().query(readQuery, 'not_closed');
  expect(breakers).toEqual([]);
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
  await system.countersign.withdraw(probe, { actor: 'agent', reason: 'test' });
  await system.ended(probe);
  const after = await breakerOf(PRICES);
  expect(after?.state === 'open' && after.evidence[0]).toBe(probe);
  expect(after?.state === 'open' && after.probe).toBeNull();
  await system.countersign.withdraw(second, { actor: 'agent', reason: 'test' });
  await system.ended(second);
});

test('a reset closes the breaker, records actor and reason, and the next change passes', async () => {
  await reset();
  await openBreaker();
  expect(await reset()).toMatchObject({ code: 'reset', reset: expect.arrayContaining([PRICES]) });
  expect((await handle().query(readQuery, 'all')).resets[0]).toMatchObject({
    actor: 'dana',
    reason: 'test',
    validatorId: null,
  });
  expect(await system.ended(await submit('items'))).toMatchObject({ state: 'COMMITTED' });
});

test('repeated verdicts count once, malformed signals are ignored and counted, and state survives continue-as-new', async () => {
  await reset();
  const [first] = await openBreaker();
  await handle().signal(samplesSignal, [{ changeId: first ?? '', samples: { [PRICES]: 'success' } }]);
  const before = await breakerOf(PRICES);
  const runId = (await handle().describe()).runId;
  for (let i = 0; i < 40; i++) await handle().signal('samples', i % 2 === 0 ? 'rubbish' : [{ changeId: 'x' }]);
  for (let i = 0; i < 600 && (await handle().describe()).runId === runId; i++) await pause(100);
  const now = await handle().describe();
  expect(now.runId).not.toBe(runId);
  expect([now.status.name, now.type]).toEqual(['RUNNING', BREAKER_WORKFLOW]);
  expect(await breakerOf(PRICES)).toEqual(before);
  expect((await handle().query(readQuery, 'all')).ignored).toBeGreaterThanOrEqual(40);
});

test('a review waits while the breakers cannot be read, and continues once they can', async () => {
  await badChange();
  // Another workflow that no worker runs takes the breaker's workflow id.
  await handle().terminate('test');
  const id = breakerWorkflowId({ tenant: 'default', sourceTool: TOOL }, queue());
  const foreign = await system.temporal.workflow.start('foreign', { workflowId: id, taskQueue: `${queue()}-nobody` });
  const submitted = await system.countersign.submit(
    { ...change('items'), target: 'shop', requestKey: system.suffix },
    { timeoutMs: 1_000 },
  );
  expect(submitted.preflight).toBe('pending');
  const { changeId } = submitted;
  expect((await system.countersign.status(changeId)).planHash).toBeNull();
  await foreign.terminate('test');
  expect(await system.ended(changeId)).toMatchObject({ state: 'COMMITTED' });
});
