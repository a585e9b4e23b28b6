import { Hono } from 'hono';
import { Readiness, type Probes } from './readiness';

/** `/healthz`: this process answers. `/readyz`: so do the parts that it needs, and 503 with their names if one does not. */
export function healthRoutes<Part extends string>(probes: Probes<Part>, now: () => number): Hono {
  const app = new Hono();
  const readiness = new Readiness(probes, now);
  app.get('/healthz', (c) => c.json({ ok: true }));
  app.get('/readyz', async (c) => {
    const { ok, parts } = await readiness.check();
    return c.json({ ok, ...parts }, ok ? 200 : 503);
  });
  return app;
}
