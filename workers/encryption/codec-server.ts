/**
 * Temporal's codec server protocol, for its UI and CLI: decrypts payloads for everyone who can reach its port. The operator
 * must restrict network access to it, as for any codec server; by CORS it answers pages of one origin only.
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
  // CORS hides the response from pages of other origins, but does not stop their requests.
  app.use(async (c, next) => {
    const origin = c.req.header('origin');
    if (origin !== undefined && origin !== uiOrigin) return c.text(`origin: expected ${uiOrigin}`, 403);
    return await next();
  });
  app.use(bodyLimit({ maxSize: MAX_BYTES, onError: (c) => c.text(`body: expected at most ${MAX_BYTES} bytes`, 413) }));
  for (const operation of ['encode', 'decode'] as const) {
    app.post(`/${operation}`, async (c) => {
      const parsed = Body.safeParse(await c.req.json().catch(() => null));
      if (!parsed.success)
        return c.text('body: expected {"payloads": [{"metadata", "data"}, …]}, bytes in base64', 400);
      const payloads = parsed.data.payloads.map((payload) => JSONToPayload(payload as never));
      return c.json({ payloads: (await codec[operation](payloads)).map((payload) => payloadToJSON(payload)) });
    });
  }
  return app;
}
