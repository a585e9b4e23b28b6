import { ConfigError } from './config';
import { createLogger, type Logger } from './logger';
import { LogLevel } from './process-env';

/** Runs an entry point. Exit code 2 for an invalid configuration, 1 for any other error. */
export function main(name: string, start: (logger: Logger) => Promise<void>): void {
  // `start` reads the environment, and reports an invalid level with what else is invalid there.
  const logger = createLogger(name, LogLevel.catch('info').parse(process.env['LOG_LEVEL']));
  start(logger).catch((error: unknown) => {
    if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
    else logger.fatal({ error: errorText(error) }, `${name} stopped`);
    process.exitCode = error instanceof ConfigError ? 2 : 1;
    // Open sockets of a partial start must not keep the process alive.
    setTimeout(() => process.exit(), 1_000).unref();
  });
}

/** Errors of the Temporal SDK's native part have no stack. */
export function errorText(error: unknown): string {
  return (error instanceof Error ? error.stack : undefined) ?? String(error);
}
