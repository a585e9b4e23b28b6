import * as http2 from 'node:http2';

const WINDOW_BYTES = 4 * 1024 * 1024;
const PING_MS = 30_000;

/** In MB. With the default of 10, a few histories at the limit of a response would stop new calls of the worker. */
export const maxSessionMemory = 256;
export const settings = { initialWindowSize: WINDOW_BYTES };

export interface UpstreamOptions {
  /** `http://host:port` or `https://host:port` of the server. */
  readonly upstream: string;
  readonly tls: http2.SecureClientSessionOptions;
  readonly onError: (error: unknown) => void;
}

/** One connection to the server, opened again after it was lost. A ping finds a connection that died silently. */
export function reconnecting({ upstream, tls, onError }: UpstreamOptions) {
  let current: http2.ClientHttp2Session | null = null;
  const ping = setInterval(() => {
    const pinged = current;
    if (pinged === null || pinged.destroyed) return;
    const lost = setTimeout(() => pinged.destroy(), PING_MS / 2);
    lost.unref();
    pinged.ping(() => clearTimeout(lost));
  }, PING_MS);
  ping.unref();
  return {
    session(): http2.ClientHttp2Session {
      if (current !== null && !current.closed && !current.destroyed) return current;
      const opened = http2.connect(upstream, { ...tls, maxSessionMemory, settings });
      opened.on('error', onError);
      opened.on('connect', () => opened.setLocalWindowSize(WINDOW_BYTES));
      // The server is about to close: calls in progress finish, new ones use a new connection.
      opened.on('goaway', () => void (current === opened && (current = null)));
      current = opened;
      return opened;
    },
    close(): void {
      clearInterval(ping);
      current?.destroy();
    },
  };
}
