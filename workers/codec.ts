import { healthRoutes } from '../gateway/health-routes';
import { CodecEnv, readEnv } from './config';
import { createCodecServer } from './encryption/codec-server';
import { readKeyRing } from './encryption/key-ring';
import { createPayloadCodec } from './encryption/payload-codec';
import { main } from './main';
import { serveUntilStopped, stopSignal } from './serve';

main('codec', async (logger) => {
  const env = readEnv(CodecEnv, process.env);
  const codec = createPayloadCodec(readKeyRing(env.COUNTERSIGN_PAYLOAD_KEYS_FILE));
  const app = createCodecServer(codec, env.COUNTERSIGN_UI_ORIGIN);
  // It needs neither PostgreSQL nor Temporal, so it is ready as soon as it answers.
  app.route('/', healthRoutes({}, Date.now, logger));
  await serveUntilStopped(app, {
    hostname: env.COUNTERSIGN_CODEC_HOST,
    port: env.COUNTERSIGN_CODEC_PORT,
    variable: 'COUNTERSIGN_CODEC_PORT',
    stopping: stopSignal(),
    logger,
  });
});
