import { Hono } from 'hono';
import { Readiness, type Probes, type ReadinessLog } from './readiness';

/** `/healthz`: this process answers. `/readyz`: so do the parts that it needs, and 503 with their names if one does not. The log says why. */
export function healthRoutes<Part extends string>(probes: Probes<Part>, now: () => number, log: ReadinessLog): Hono {
  const app = new Hono();
  const readiness = new Readiness(probes, now, undefined, log);
  app.get('/healthz', (c) => c.json({ ok: true }));
  app.get('/readyz', async (c) => {
    const { ok, parts } = await readiness.check();
    return c.json({ ok, ...parts }, ok ? 200 : 503);
  });
  return app;
}
