import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../storage/database/database';
import { Reconciler } from '../../workers/reconciler/reconciler';
import { useDatabase } from '../support/postgres';

const database = useDatabase();
let db: Database;
beforeAll(async () => {
  await database
    .open('admin')
    .query(`alter role cs_commit in database ${database.name} set idle_in_transaction_session_timeout = '1s'`);
  db = database.open('cs_commit');
});

/** Of a committer whose list of workflows takes as long as `list`. */
const reconciler = (list: () => Promise<void>): Reconciler =>
  new Reconciler({
    db,
    deps: {},
    temporal: {
      options: { namespace: 'test' },
      withDeadline: (_deadline: number, call: () => unknown) => call(),
      workflowService: {
        listWorkflowExecutions: async () => {
          await list();
          return { executions: [] };
        },
      },
    },
    graceMs: 1_000,
    logger: { info: () => {}, warn: () => {}, error: () => {} },
    count: () => {},
  } as never);

test('one committer looks at reviews at a time, although the lock is idle for longer than other transactions may be', async () => {
  const other = reconciler(() => Promise.resolve());
  const during: (number | null)[] = [];
  const slow = reconciler(async () => {
    await sleep(2_000);
    during.push(await other.pass());
  });
  expect(await slow.pass()).toBe(0);
  expect(during).toEqual(during.map(() => null));
  expect(during.length).toBeGreaterThan(0);
});
