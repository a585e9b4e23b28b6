import { createServer, Socket } from 'node:net';
import { listenOnLoopback } from '../../../dev/fixtures/loopback-server';
import { KEEP_ALIVE_MS } from '../../../storage/database/database';
import { createLedger } from '../../../storage/ledger/ledger';
import { ledgerNotifications, type LedgerNotifications } from '../../../storage/ledger/notifications';
import { useDatabase } from '../../support/postgres';

const id = (n: number): string => n.toString(16).padStart(64, '0');
const LONG = 20_000;

const database = useDatabase();
let notifications: LedgerNotifications;
beforeAll(async () => {
  notifications = ledgerNotifications({ url: database.url('cs_gateway'), applicationName: 'watching' });
});
afterAll(() => notifications.close());

const append = (n: number, factKey: string): Promise<unknown> =>
  createLedger(database.open('cs_gateway')).append(id(n), [
    { kind: 'refused', at: new Date().toISOString(), body: { factKey }, factKey },
  ]);

async function elapsed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

it('wakes a watch when rows of its change are appended, also between two waits, but not for rows of another change', async () => {
  const [own, other] = [await notifications.watch(id(1)), await notifications.watch(id(2))];
  const waiting = elapsed(() => own.next(LONG));
  await append(1, 'a');
  expect(await waiting).toBeLessThan(LONG / 2);
  expect(await elapsed(() => other.next(50))).toBeGreaterThanOrEqual(45);

  await append(1, 'b');
  expect(await elapsed(() => own.next(LONG))).toBeLessThan(LONG / 2);
  [own, other].forEach((watch) => watch.close());
});

it('wakes a watch that is closed', async () => {
  const watch = await notifications.watch(id(5));
  const waiting = elapsed(() => watch.next(LONG));
  await new Promise(setImmediate);
  watch.close();
  expect(await waiting).toBeLessThan(LONG / 2);
});

it('wakes every watch when its connection is lost, and listens again', async () => {
  const watch = await notifications.watch(id(3));
  const waiting = elapsed(() => watch.next(LONG));
  const killed = await database
    .open('admin')
    .query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'watching-listen' and datname = current_database()`,
    );
  expect(killed.rowCount).toBe(1);
  expect(await waiting).toBeLessThan(LONG / 2);

  // A row is appended while no connection listens: the watch is woken as soon as one does.
  await append(3, 'a');
  expect(await elapsed(() => watch.next(LONG))).toBeLessThan(LONG / 2);
  const again = elapsed(() => watch.next(LONG));
  await append(3, 'b');
  expect(await again).toBeLessThan(LONG / 2);
  watch.close();
});

it('waits for its time-out if the database cannot be reached', async () => {
  const down = ledgerNotifications({ url: 'postgresql://unknown@127.0.0.1:9/none', applicationName: 'down' });
  const watch = await down.watch(id(4));
  expect(await elapsed(() => watch.next(60))).toBeGreaterThanOrEqual(55);
  watch.close();
  await down.close();
});

/** A server that lets everyone log in and then answers nothing, as one whose machine hangs. Returns its port. */
async function startHangingServer(): Promise<{ readonly port: number; readonly close: () => void }> {
  const sockets: Socket[] = [];
  const message = (type: string, body: readonly number[]): Buffer =>
    Buffer.from([type.charCodeAt(0), 0, 0, 0, 4 + body.length, ...body]);
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    socket.once('data', () => socket.write(Buffer.concat([message('R', [0, 0, 0, 0]), message('Z', [73])])));
  });
  const port = await listenOnLoopback(server);
  return {
    port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

it('does not wait for a server that hangs, and notices a connection that is lost silently', async () => {
  const { port, close } = await startHangingServer();
  const kept = jest.spyOn(Socket.prototype, 'setKeepAlive');
  const hung = ledgerNotifications({ url: `postgresql://any@127.0.0.1:${port}/any`, applicationName: 'hung' });
  const watch = await hung.watch(id(6));
  expect(kept.mock.calls).toEqual([[true, KEEP_ALIVE_MS]]);
  kept.mockRestore();
  watch.close();
  await hung.close();
  close();
});
