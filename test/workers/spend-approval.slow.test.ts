import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createLedger } from '../../storage/ledger/ledger';
import type { LedgerEntry } from '../../policy/evidence/ledger-port';
import { useFreshDatabase } from '../support/postgres';
import { ReviewWorld } from '../support/review/review-world';

const database = useFreshDatabase();

/** A process that waits for `go`. */
async function requester(url: string, changeId: string) {
  const root = join(__dirname, '..', '..');
  const args = ['--require', './test/pins/register.cjs', 'test/workers/spend-process.ts', url, changeId];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const [ready] = (await once(lines, 'line')) as string[];
  expect(ready).toBe('ready');
  return async (): Promise<string> => {
    child.stdin.write('go\n');
    const [said = ''] = (await once(lines, 'line')) as string[];
    return said;
  };
}

test('of two processes that hold the same approval at the same time, one may perform the effect', async () => {
  const world = await new ReviewWorld({ sourceTool: 'Refund' }).confirmed();
  await world.commit();
  const entries = (await world.rows()).map(({ row }): LedgerEntry => {
    const { kind, at, body, n } = row;
    return { kind, at, body, factKey: String(n) };
  });
  const ledger = createLedger(database.open('admin'));
  for (const entry of entries) await ledger.append(world.changeId, [entry]);
  const go = await Promise.all([1, 2].map(() => requester(database.url('cs_gateway'), world.changeId)));
  const said = await Promise.all(go.map((each) => each()));
  expect(said.sort()).toEqual(['false', 'true']);
  const spent = await ledger.readKinds(world.changeId, ['spent']);
  expect(spent).toHaveLength(1);
  expect(await (await requester(database.url('cs_gateway'), world.changeId))()).toBe('false');
}, 120_000);
