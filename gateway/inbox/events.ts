import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { EventHub } from './event-hub';
import type { Sessions } from './session';

/** `GET /events`: server-sent events until the session, the page or the process ends. */
export function eventRoutes(hub: EventHub, sessions: Sessions): Hono {
  const routes = new Hono();
  routes.get('/events', async (c) => {
    // V2. The page connects again by itself, and an EventSource sends no header of its own.
    const queue = await hub.join(await sessions.of(c, false));
    return streamSSE(c, async (stream) => {
      stream.onAbort(() => queue.close());
      try {
        for (let event = await queue.next(); event !== null && !stream.aborted; event = await queue.next())
          await stream.writeSSE({ data: JSON.stringify(event) });
      } finally {
        queue.close();
      }
    });
  });
  return routes;
}
