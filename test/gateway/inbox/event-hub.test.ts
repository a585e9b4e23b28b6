import { EventHub } from '../../../gateway/inbox/event-hub';

const session = { tokenSha: 'a'.repeat(64) } as Parameters<EventHub['join']>[0];

/** A hub whose registry can be broken. `subscribed`: how often it listens to changes. */
function hubWith(state: { isBroken: boolean }) {
  let subscribed = 0;
  const hub = new EventHub({
    changes: {
      subscribe: () => {
        subscribed++;
        return () => void subscribed--;
      },
    },
    tenantOf: async () => null,
    registryVersion: async () => {
      if (state.isBroken) throw new Error('permission denied');
      return '1';
    },
    readiness: { check: async () => ({ ok: true, parts: { database: 'up', temporal: 'up' } }) },
    sessions: { find: async () => null },
    now: () => 0,
    log: { error: () => {} },
  });
  return { hub, subscribed: () => subscribed };
}

test('a stream that could not begin takes no place of its session', async () => {
  const state = { isBroken: true };
  const { hub, subscribed } = hubWith(state);
  for (let i = 0; i < 10; i++) await expect(hub.join(session)).rejects.toThrow('permission denied');
  expect(subscribed()).toBe(0);
  state.isBroken = false;
  await expect(hub.join(session)).resolves.toBeDefined();
  hub.close();
  expect(subscribed()).toBe(0);
});

test('a stream that is closed twice, or fails beside others, lets its session open no more than five', async () => {
  const state = { isBroken: false };
  const { hub, subscribed } = hubWith(state);
  const [first] = await Promise.all(Array.from({ length: 4 }, () => hub.join(session)));
  state.isBroken = true;
  const failed = hub.join(session);
  await expect(hub.join(session)).rejects.toMatchObject({ code: 'too_many_requests' });
  await expect(failed).rejects.toThrow('permission denied');
  expect(subscribed()).toBe(1);
  state.isBroken = false;
  first?.close();
  first?.close();
  const joins = await Promise.allSettled(Array.from({ length: 4 }, () => hub.join(session)));
  expect(joins.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
  hub.close();
  expect(subscribed()).toBe(0);
});
