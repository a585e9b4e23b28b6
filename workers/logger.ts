import pino, { type Logger } from 'pino';

export type { Logger };

/** Structured lines on standard error; standard output is for the results of commands. Never log bytes of a diff. */
export function createLogger(name: string, level: string): Logger {
  return pino(
    { name, level, redact: ['url', 'password', 'apiKey', 'secret', '*.url', '*.password'] },
    pino.destination(2),
  );
}
