import { startSystem, type System } from '../support/system';
import { SHOP } from '../support/shop-bundle';

let system: System;
beforeAll(async () => {
  system = await startSystem({ ...SHOP, name: 'review' });
}, 120_000);
afterAll(() => system.close());

test('commits without approval if every guardian allows', async () => {
  const { changeId, preflight } = await system.submit({
    sourceTool: 'SQLDryRun',
    raw: 'update items set stock = 11 where id = 1',
    metadata: { table_name: 'items', affected_rows: 1 },
  });
  expect(preflight).not.toBe('pending');
  const result = await system.countersign.result(changeId, { timeoutMs: 20_000 });
  expect(result).toMatchObject({ state: 'COMMITTED', verified: true });
  expect(await system.shop('select stock from items where id = 1')).toEqual([{ stock: 11 }]);
}, 60_000);
