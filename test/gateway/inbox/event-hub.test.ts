import { EventHub } from '../../../gateway/inbox/event-hub';

test('a stream that could not begin takes no place of its session', async () => {
  let isBroken = true;
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
      if (isBroken) throw new Error('permission denied');
      return '1';
    },
    readiness: { check: async () => ({ ok: true, parts: { database: 'up', temporal: 'up' } }) },
    sessions: { find: async () => null },
    now: () => 0,
    log: { error: () => {} },
  });
  const session = { tokenSha: 'a'.repeat(64) } as Parameters<EventHub['join']>[0];
  for (let i = 0; i < 10; i++) await expect(hub.join(session)).rejects.toThrow('permission denied');
  expect(subscribed).toBe(0);
  isBroken = false;
  await expect(hub.join(session)).resolves.toBeDefined();
  hub.close();
  expect(subscribed).toBe(0);
});
