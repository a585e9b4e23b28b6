import { ConfigError } from './config';
import { createLogger, type Logger } from './logger';

/** Runs an entry point: exit code 2 for a configuration that does not fit, 1 for anything else, one clear message. */
export function main(name: string, start: (logger: Logger) => Promise<void>): void {
  const logger = createLogger(name, process.env['LOG_LEVEL'] ?? 'info');
  start(logger).catch((error: unknown) => {
    if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
    else logger.fatal({ error: error instanceof Error ? error.stack : String(error) }, `${name} stopped`);
    process.exitCode = error instanceof ConfigError ? 2 : 1;
    // Sockets of a half-started process must not keep it alive.
    setTimeout(() => process.exit(), 1_000).unref();
  });
}
