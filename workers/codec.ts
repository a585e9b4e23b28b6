import { serve } from '@hono/node-server';
import { CodecEnv, readEnv } from './config';
import { sayReady } from './say-ready';
import { createCodecServer } from './encryption/codec-server';
import { readKeyRing } from './encryption/key-ring';
import { createPayloadCodec } from './encryption/payload-codec';
import { main } from './main';

main('codec', async (logger) => {
  const env = readEnv(CodecEnv, process.env);
  const app = createCodecServer(
    createPayloadCodec(readKeyRing(env.COUNTERSIGN_PAYLOAD_KEYS_FILE)),
    env.COUNTERSIGN_UI_ORIGIN,
  );
  const server = serve(
    { fetch: app.fetch, hostname: env.COUNTERSIGN_CODEC_HOST, port: env.COUNTERSIGN_CODEC_PORT },
    ({ port }) => {
      logger.info({ port }, 'codec server listens');
      sayReady();
    },
  );
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
  await new Promise<void>((resolve) => server.close(() => resolve()));
});
