/**
 * Temporal's codec server protocol, for its UI and CLI: whoever may read reviews gets their payloads in clear here.
 * It answers the UI of one origin; who reaches its port is the operator's to bound, as with any codec server.
 */
import type { PayloadCodec } from '@temporalio/common';
import { JSONToPayload, payloadToJSON } from '@temporalio/common/lib/proto-utils';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { cors } from 'hono/cors';
import { z } from 'zod';

const MAX_BYTES = 16 * 1024 * 1024;
/** Payloads in the JSON form of protobuf: bytes in base64. */
const Body = z.object({
  payloads: z
    .array(z.object({ metadata: z.record(z.string(), z.base64()).optional(), data: z.base64().nullish() }))
    .max(10_000),
});

export function createCodecServer(codec: PayloadCodec, uiOrigin: string): Hono {
  const app = new Hono();
  app.use(
    cors({
      origin: uiOrigin,
      allowMethods: ['POST'],
      allowHeaders: ['Content-Type', 'X-Namespace', 'Authorization'],
      credentials: true,
      maxAge: 600,
    }),
  );
  // A page of another origin could send the request, though it could not read the answer.
  app.use(async (c, next) => {
    const origin = c.req.header('origin');
    if (origin !== undefined && origin !== uiOrigin) return c.text(`origin: expected ${uiOrigin}`, 403);
    return await next();
  });
  app.use(bodyLimit({ maxSize: MAX_BYTES, onError: (c) => c.text(`body: expected at most ${MAX_BYTES} bytes`, 413) }));
  for (const way of ['encode', 'decode'] as const) {
    app.post(`/${way}`, async (c) => {
      const parsed = Body.safeParse(await c.req.json().catch(() => null));
      if (!parsed.success)
        return c.text('body: expected {"payloads": [{"metadata", "data"}, …]}, bytes in base64', 400);
      const payloads = parsed.data.payloads.map((payload) => JSONToPayload(payload as never));
      return c.json({ payloads: (await codec[way](payloads)).map((payload) => payloadToJSON(payload)) });
    });
  }
  return app;
}
