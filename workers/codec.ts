import { CodecEnv, readEnv } from './config';
import { createCodecServer } from './encryption/codec-server';
import { readKeyRing } from './encryption/key-ring';
import { createPayloadCodec } from './encryption/payload-codec';
import { main } from './main';
import { serveUntilStopped } from './serve';

main('codec', async (logger) => {
  const env = readEnv(CodecEnv, process.env);
  const codec = createPayloadCodec(readKeyRing(env.COUNTERSIGN_PAYLOAD_KEYS_FILE));
  const app = createCodecServer(codec, env.COUNTERSIGN_UI_ORIGIN);
  await serveUntilStopped(app, { hostname: env.COUNTERSIGN_CODEC_HOST, port: env.COUNTERSIGN_CODEC_PORT, logger });
});
