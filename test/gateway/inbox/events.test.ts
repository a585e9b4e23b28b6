import type { InboxEvent } from '../../../gateway/inbox/api';
import { CHANGE, hex } from '../../client/fakes';
import { alice, inboxWorld, loggedIn, mallory, OTHER_CHANGE, type Browser, type InboxWorld } from './world';

beforeEach(() => jest.useFakeTimers({ doNotFake: ['performance', 'queueMicrotask', 'nextTick', 'setImmediate'] }));
afterEach(() => jest.useRealTimers());

/** An open page: what its event stream sent. */
class Page {
  readonly events: InboxEvent[] = [];
  closed = false;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(response: Response) {
    if (response.body === null) throw new Error('The stream has no body');
    this.#reader = response.body.getReader();
    void this.#read();
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    for (let text = ''; ;) {
      const { done, value } = await this.#reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) this.events.push(JSON.parse(part.replace(/^data: /, '')) as InboxEvent);
    }
    this.closed = true;
  }

  async leave(): Promise<void> {
    await this.#reader.cancel();
  }

  get changes(): readonly string[] {
    return this.events.flatMap((event) => (event.type === 'changed' ? [event.changeId] : []));
  }
}

/** Lets time pass for timers, clock and open promises. */
async function pass(world: InboxWorld, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    world.clock.now += 250;
    await jest.advanceTimersByTimeAsync(250);
    await settled();
  }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}

async function open(browser: Browser): Promise<Page> {
  const response = await browser.get('events');
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const page = new Page(response);
  await settled();
  return page;
}

let world: InboxWorld;
beforeEach(() => {
  world = inboxWorld();
});
afterEach(() => world.stopping.abort());

it('sends the state of the services at once, and again within ten seconds', async () => {
  const page = await open(await loggedIn(world));
  expect(page.events).toEqual([
    { type: 'services', database: true, temporal: true, registry: '2', now: expect.any(String) },
  ]);
  await pass(world, 10_000);
  expect(page.events).toHaveLength(2);
});

it.each(['database', 'temporal'] as const)(
  'sends within two seconds that %s is down, and that it is up again',
  async (name) => {
    const page = await open(await loggedIn(world));
    world.services[name] = false;
    await pass(world, 2_000);
    expect(page.events.at(-1)).toMatchObject({ type: 'services', [name]: false });
    world.services[name] = true;
    await pass(world, 2_000);
    expect(page.events.at(-1)).toMatchObject({ type: 'services', [name]: true });
    expect(page.events).toHaveLength(3);
  },
);

it('sends within ten seconds that a key, a revocation or a revision of the policy was added', async () => {
  const page = await open(await loggedIn(world));
  world.keys.set('of bob', alice.entry);
  await pass(world, 10_000);
  expect(page.events.at(-1)).toMatchObject({ type: 'services', registry: '3' });
});

it('names changes of the tenants of the session only', async () => {
  const [own, other] = [await open(await loggedIn(world)), await open(await loggedIn(world, mallory))];
  for (const changeId of [CHANGE, OTHER_CHANGE, hex('9')]) world.changed(changeId);
  await settled();
  expect([own.changes, other.changes]).toEqual([[CHANGE], [OTHER_CHANGE]]);
});

it('ends with a logout at once, and with a revoked or expired session at the next heartbeat', async () => {
  const browser = await loggedIn(world);
  const left = await open(browser);
  await browser.post('logout');
  await settled();
  expect(left.closed).toBe(true);

  const revoked = await open(await loggedIn(world));
  world.keys.set(alice.keyId, { ...alice.entry, revokedAt: new Date().toISOString() });
  await pass(world, 10_000);
  expect(revoked.closed).toBe(true);
  world.keys.set(alice.keyId, alice.entry);

  const idle = await open(await loggedIn(world));
  await pass(world, 15 * 60_000 - 20_000);
  expect(idle.closed).toBe(false);
  await pass(world, 30_000);
  expect(idle.closed).toBe(true);
});

it('sends nothing to a session that has ended', async () => {
  const page = await open(await loggedIn(world));
  world.keys.delete(alice.keyId);
  await pass(world, 10_000);
  world.changed(CHANGE);
  await settled();
  expect(page.changes).toEqual([]);
});

it('has at most five streams of a session, and a closed one makes room', async () => {
  const browser = await loggedIn(world);
  const pages = [];
  for (let i = 0; i < 5; i++) pages.push(await open(browser));
  expect((await browser.get('events')).status).toBe(429);
  await pages[0]?.leave();
  await pass(world, 500);
  await open(browser);
  expect((await browser.get('events')).status).toBe(429);
});

it('keeps one event for each change while the reader is slow, and ends a stream that is too slow', async () => {
  const response = await (await loggedIn(world)).get('events');
  await settled();
  for (let i = 0; i < 3; i++) world.changed(CHANGE);
  await settled();
  const page = new Page(response);
  await settled();
  expect(page.changes.length).toBeGreaterThanOrEqual(1);
  expect(page.changes.length).toBeLessThanOrEqual(3);

  const flooded = inboxWorld({ inbox: { tenantOf: async () => 'acme' } });
  const slow = await (await loggedIn(flooded)).get('events');
  await settled();
  for (let i = 0; i < 1_200; i++) flooded.changed(i.toString(16).padStart(64, '0'));
  await settled();
  const ended = new Page(slow);
  await settled();
  expect(ended.closed).toBe(true);
  flooded.stopping.abort();
});

it('ends all streams after an unexpected failure, which is logged, so that the pages read everything again', async () => {
  const logged: object[] = [];
  const broken = inboxWorld({
    inbox: { tenantOf: async () => await Promise.reject(new Error('no permission')) },
    gateway: { log: { error: (facts) => void logged.push(facts) } },
  });
  const page = await open(await loggedIn(broken));
  broken.changed(CHANGE);
  await settled();
  expect([page.closed, logged]).toEqual([true, [{ reason: 'no permission' }]]);
});

it('ends all streams when the process stops, also new ones, and looks at nothing without pages', async () => {
  const browser = await loggedIn(world);
  const page = await open(browser);
  expect(world.listeners.size).toBe(1);
  world.stopping.abort();
  await settled();
  const late = await open(browser);
  expect([page.closed, late.closed]).toEqual([true, true]);
  expect(world.listeners.size).toBe(0);
  expect(jest.getTimerCount()).toBe(0);
});
