import { ledgerChanges } from '../../../storage/inbox/ledger-changes';
import { createLedger } from '../../../storage/ledger/ledger';
import { ledgerNotifications, type LedgerNotifications } from '../../../storage/ledger/notifications';
import { eventually } from '../../support/eventually';
import { useDatabase } from '../../support/postgres';

const id = (n: number): string => n.toString(16).padStart(64, '0');

const database = useDatabase();
let notifications: LedgerNotifications;
beforeAll(async () => {
  notifications = ledgerNotifications({ url: database.url('cs_gateway'), applicationName: 'inbox' });
});
afterAll(() => notifications.close());

const append = (n: number): Promise<unknown> =>
  createLedger(database.open('cs_gateway')).append(id(n), [
    { kind: 'refused', at: new Date().toISOString(), body: {}, factKey: String(Math.random()) },
  ]);

function follow(given: Pick<LedgerNotifications, 'onEach' | 'connection'>) {
  const received: string[] = [];
  const stop = ledgerChanges({ notifications: given, db: database.open('cs_gateway'), everyMs: 50 }).subscribe(
    (changeId) => received.push(changeId),
  );
  return { received, stop };
}

it('notifies of each change that gets rows, until the subscription ends', async () => {
  const { received, stop } = follow(notifications);
  expect(await notifications.connection()).toBe(1);
  await append(1);
  await append(2);
  await eventually('both', () => received.includes(id(1)) && received.includes(id(2)));
  stop();
  await append(3);
  const other = follow(notifications);
  await append(4);
  await eventually('change 4', () => other.received.includes(id(4)));
  other.stop();
  expect(received).not.toContain(id(4));
});

it('reads the newest rows while the process cannot listen, and none from before the subscription', async () => {
  let looks = 0;
  const { received, stop } = follow({ onEach: () => () => undefined, connection: async () => (looks++, null) });
  await eventually('the first look', () => looks > 1);
  await append(5);
  await eventually('change 5', () => received.includes(id(5)));
  await append(6);
  await eventually('change 6', () => received.includes(id(6)));
  stop();
  expect(received).not.toContain(id(4));
});

it('notifies of changes that were missed while the connection was lost', async () => {
  const { received, stop } = follow(notifications);
  await eventually('listening', async () => (await notifications.connection()) !== null);
  received.length = 0;
  await database
    .open('admin')
    .query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'inbox-listen' and datname = current_database()`,
    );
  await append(7);
  await eventually('change 7', () => received.includes(id(7)));
  await eventually('listening', async () => (await notifications.connection()) !== null);
  await append(8);
  await eventually('change 8', () => received.includes(id(8)));
  stop();
});

it('looks at the newest rows once with each new connection', async () => {
  const state = { connection: 1, looks: 0 };
  const { received, stop } = follow({
    onEach: () => () => undefined,
    connection: async () => {
      state.looks++;
      return state.connection;
    },
  });
  await eventually('two looks', () => state.looks > 1);
  await append(9);
  const before = state.looks;
  await eventually('two more looks', () => state.looks > before + 1);
  expect(received).toEqual([]);
  state.connection = 2;
  await eventually('change 9', () => received.includes(id(9)));
  stop();
});
