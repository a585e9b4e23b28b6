import { EventEmitter } from 'node:events';
import {
  KeptConnections,
  MAX_AGE_MS,
  MAX_IDLE,
  type Connection,
} from '../../../../source-tools/sql/staging/kept-connections';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

class FakeClient extends EventEmitter {
  ended = false;
  held = true;
  ref(): void {
    this.held = true;
  }
  unref(): void {
    this.held = false;
  }
  async end(): Promise<void> {
    this.ended = true;
  }
}

function connectionTo(url: string): { readonly connection: Connection; readonly client: FakeClient } {
  const client = new FakeClient();
  const since = performance.now();
  const connection = { client: client as unknown as Connection['client'], url, since, direct: true, isReset: true };
  return { connection, client };
}

function keeping(): { readonly kept: KeptConnections; readonly stop: () => void } {
  const inUse = new AbortController();
  return { kept: new KeptConnections(inUse.signal), stop: () => inUse.abort() };
}

describe('kept connections', () => {
  it('are given to one change at a time, for the same role, password and database only', () => {
    const { kept } = keeping();
    const { connection } = connectionTo('postgres://stage:a@host/shop');
    kept.put(connection);
    for (const other of ['commit:a@host/shop', 'stage:b@host/shop', 'stage:a@host/store'])
      expect(kept.take(`postgres://${other}`)).toBeNull();
    expect(kept.take(connection.url)).toBe(connection);
    expect(kept.take(connection.url)).toBeNull();
  });

  it('are closed one minute after their login, even if they were used in between', () => {
    const { kept } = keeping();
    const { connection, client } = connectionTo('a');
    kept.put(connection);
    jest.advanceTimersByTime(MAX_AGE_MS / 2);
    kept.take('a');
    kept.put(connection);
    jest.advanceTimersByTime(MAX_AGE_MS / 2 - 1);
    expect(client.ended).toBe(false);
    jest.advanceTimersByTime(1);
    expect(client.ended).toBe(true);
    expect(kept.take('a')).toBeNull();
  });

  it('are closed if they come back too old, and not taken if a timer is late', () => {
    const { kept } = keeping();
    const old = connectionTo('a');
    jest.advanceTimersByTime(MAX_AGE_MS);
    kept.put(old.connection);
    expect(old.client.ended).toBe(true);
    const late = connectionTo('a');
    kept.put(late.connection);
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + MAX_AGE_MS);
    expect(kept.take('a')).toBeNull();
    jest.restoreAllMocks();
  });

  it('are not taken after the server closed them', () => {
    const { kept } = keeping();
    const { connection, client } = connectionTo('a');
    kept.put(connection);
    client.emit('end');
    expect(kept.take('a')).toBeNull();
  });

  it(`are at most ${MAX_IDLE} for each URL`, () => {
    const { kept } = keeping();
    const all = Array.from({ length: MAX_IDLE + 1 }, () => connectionTo('a'));
    for (const { connection } of all) kept.put(connection);
    kept.put(connectionTo('b').connection);
    expect(all.filter(({ client }) => client.ended)).toEqual([all.at(-1)]);
    expect(kept.take('b')).not.toBeNull();
  });

  it('are closed when the process stops using its targets, also those that are still in use then', () => {
    const { kept, stop } = keeping();
    const [idle, busy] = [connectionTo('a'), connectionTo('a')];
    kept.put(idle.connection);
    stop();
    expect(idle.client.ended).toBe(true);
    kept.put(busy.connection);
    expect(busy.client.ended).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('keep the process alive only while a change uses them', () => {
    const { kept } = keeping();
    const { connection, client } = connectionTo('a');
    kept.put(connection);
    expect(client.held).toBe(false);
    kept.take('a');
    expect(client.held).toBe(true);
  });
});
